/**
 * A peer's name is its own: the points on the ring, the claims and the questions to it depend on it. The bucket `peers`
 * says which process has it; a second one is refused while the first is heard, and takes it over when it is silent.
 */
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { isConflict } from '../connection/errors.ts';
import { untilItPasses } from '../connection/retry.ts';
import { scatter } from '../rpc/scatter.ts';
import { heartbeatSubject } from '../topology/layout.ts';
import { decodeHeartbeat } from './heartbeat.ts';

const holderForm = z.object({
  session: z.string().max(32),
  /** The machine, for people. */
  host: z.string().max(255),
  left: z.boolean(),
});
type NameHolder = Readonly<z.infer<typeof holderForm>>;

/** Of the engine. */
interface EngineParts {
  readonly connection: NatsConnection;
  readonly buckets: { readonly peers: KV };
}

/** Milliseconds to listen for a process that may still have the name: longer than a peer is silent. */
const LISTEN = 3500;
const ANSWER = 1000;

export async function readHolder(peers: KV, name: string): Promise<{ holder?: NameHolder; revision: number }> {
  const entry = await untilItPasses(() => peers.get(name));
  if (!entry) return { revision: 0 };
  let holder: NameHolder | undefined;
  try {
    holder = holderForm.safeParse(JSON.parse(entry.string())).data;
  } catch {
    // Not written by a peer: whoever is not heard does not have the name.
  }
  return { ...(holder && { holder }), revision: entry.revision };
}

/** Those who took a name and did not give it back: they live, or have died. */
export async function presentNames(peers: KV): Promise<string[]> {
  const names: string[] = [];
  for await (const name of await untilItPasses(() => peers.keys())) names.push(name);
  const holders = await Promise.all(names.map(name => readHolder(peers, name)));
  return names.filter((_, i) => holders[i]!.holder?.left === false);
}

/** Throws in a sentence when another process has the name. */
export async function takeName(engine: EngineParts, name: string, mine: NameHolder): Promise<void> {
  const { peers } = engine.buckets;
  const { holder, revision } = await readHolder(peers, name);
  // Asked also where nobody seems to have it: the engine may have forgotten.
  if (await answers(engine, name)) throw inUse(name, holder);
  if (holder && !holder.left && holder.session !== mine.session && (await isHeard(engine, name, mine.session)))
    throw inUse(name, holder);
  try {
    await untilItPasses(() => write(peers, name, mine, revision));
  } catch (error) {
    if (!isConflict(error)) throw error;
    const now = await readHolder(peers, name);
    // The answer to this process's own attempt may have been lost; then it has the name.
    if (now.holder?.session !== mine.session) throw inUse(name, now.holder);
  }
}

/** Writes it down again where the engine has forgotten it. */
export async function restoreName(peers: KV, name: string, mine: NameHolder): Promise<void> {
  const { holder, revision } = await readHolder(peers, name);
  if (holder) return;
  try {
    await untilItPasses(() => write(peers, name, mine, revision));
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** So that a process that starts with this name again need not listen first. */
export async function giveUpName(peers: KV, name: string, mine: NameHolder): Promise<void> {
  const { holder, revision } = await readHolder(peers, name);
  if (holder?.session !== mine.session) return;
  try {
    await write(peers, name, { ...mine, left: true }, revision);
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

function write(peers: KV, name: string, holder: NameHolder, revision: number): Promise<number> {
  const text = JSON.stringify(holder);
  return revision === 0 ? peers.create(name, text) : peers.update(name, text, revision);
}

/** At once when nobody is there to answer. */
async function answers({ connection }: EngineParts, name: string): Promise<boolean> {
  const asked = await scatter(connection, [name], { name: 'heartbeat', args: null }, { deadline: ANSWER });
  return asked.answers.has(name);
}

function isHeard({ connection }: EngineParts, name: string, session: string): Promise<boolean> {
  return new Promise(resolve => {
    const done = (heard: boolean) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve(heard);
    };
    const timer = setTimeout(() => done(false), LISTEN);
    const subscription = connection.subscribe(heartbeatSubject(name), {
      callback: (_error, { data }) => {
        const heartbeat = decodeHeartbeat(data);
        if (heartbeat && heartbeat.session !== session && heartbeat.phase !== 'bye') done(true);
      },
    });
  });
}

function inUse(name: string, holder: NameHolder | undefined): SkeinError {
  return new SkeinError(
    'data-in-use',
    `A peer named ${name} is already in this cluster${holder ? `, on ${harmless(holder.host)}` : ''}.`,
    'Give this one another name with --peer NAME.',
  );
}
