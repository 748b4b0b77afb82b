/** The thread behind notice-reader.ts: asks faces and reads what they say. It forgets terms that it told, and writes nothing else. */
import { parentPort, workerData } from 'node:worker_threads';
import { toolsFor } from '../../../crawler/tools.ts';
import { unpackFacts } from '../../../errand/facts.ts';
import { Ledger } from '../../../ledger/ledger.ts';
import { believable } from '../../../notices/notice.ts';
import { makeTools } from '../../../outpost/workers/tools.ts';
import { openCopies } from '../../copies/copies.ts';
import { searchFile } from '../../indexing/indexing.ts';
import { readIdentities } from '../identities.ts';
import {
  type Done,
  type DoneMessage,
  NOTHING,
  type NoticeThreadData,
  type Task,
  type TaskMessage,
} from '../messages.ts';
import { Asking } from './asking.ts';
import { type Copy, discover } from './discover.ts';
import { verifyKey } from './indexnow.ts';
import { inWords, pollCursor } from './read-cursor.ts';
import { pollFeed } from './read-feed.ts';
import { pollSync } from './read-sync.ts';
import { tellSearched } from './tell-searched.ts';
import { readDelivery, subscribe } from './websub.ts';

const port = parentPort!;
const data = workerData as NoticeThreadData;
const identities = readIdentities(data.directory);
const ready = makeTools({ ...data, identities });
const end = new AbortController();
/** Milliseconds until a face is asked again that went wrong. */
const AFTER_TROUBLE = 3_600_000;
/** Pages of a server that are searched for links to faces, and bytes of each. */
const PAGES_SEARCHED = 3;
const BYTES_SEARCHED = 200_000;

/** The ledger as it is now. */
function looking<T>(look: (ledger: Ledger) => T): T {
  const ledger = new Ledger(data.directory, 'read');
  try {
    return look(ledger);
  } finally {
    ledger.close();
  }
}

/** Pages that were seen, with the content that they had. */
function holdings(origin: string): { url: string; content: Uint8Array }[] {
  return looking(ledger => {
    const server = ledger.servers.find(origin);
    const held: { url: string; content: Uint8Array }[] = [];
    for (const { id } of server ? ledger.pages.ofServer(server.id) : []) {
      const known = ledger.pages.known(id);
      const seen = known?.outcome === 'fetched' || known?.outcome === 'same';
      const content = seen && known.facts ? unpackFacts(known.facts)?.content : undefined;
      if (content) held.push({ url: ledger.pages.get(id)!.url, content });
    }
    return held;
  });
}

/** The first pages of a server that were stored. */
async function copiesOf(origin: string): Promise<Copy[]> {
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(data.directory, 'read'), each => each.close());
  const copies = opened.adopt(openCopies(ledger), each => each.close());
  const server = ledger.servers.find(origin);
  const found: Copy[] = [];
  for (const { id } of server ? ledger.pages.ofServer(server.id) : []) {
    if (found.length >= PAGES_SEARCHED) break;
    const known = ledger.pages.known(id);
    if (!known || !/^(?:text\/html|application\/xhtml)/.test(known.media_type ?? '')) continue;
    const stored = await copies.newest(known);
    if (!stored) continue;
    const text = Buffer.from(stored.decoded(BYTES_SEARCHED).bytes).toString();
    found.push({ url: ledger.pages.get(id)!.url, headers: stored.headers, text });
  }
  return found;
}

function tokenFor(origin: string): string | undefined {
  return looking(ledger => ledger.setting<Record<string, string>>('site tokens')?.[origin]);
}

function accessTo(origin: string): { token: string | undefined; certified: boolean } {
  return { token: tokenFor(origin), certified: identities[origin] !== undefined };
}

async function work(task: Task, asking: Asking): Promise<Done> {
  const { terms } = task;
  switch (task.kind) {
    case 'discover':
      return discover(asking, terms.origin, { robots: terms.robots?.body ?? '', copies: await copiesOf(terms.origin) });
    case 'poll':
      if (task.face.kind === 'feed') return pollFeed(asking, task.face);
      if (task.face.kind === 'resourcesync') return pollSync(asking, task.face);
      return pollCursor({ asking, holdings, ...accessTo(terms.origin) }, task.face, task.wait);
    case 'subscribe':
      return subscribe(asking, task.face, task.callback);
    case 'read':
      return readDelivery(task.face, task.bytes);
    case 'searched':
      return tellSearched(asking, {
        origin: terms.origin,
        token: tokenFor(terms.origin),
        file: searchFile(data.directory),
      });
    case 'verify':
      return verifyKey(asking, task.key, task.location);
  }
}

/** What went wrong is a sentence; only a bug ends the thread. */
async function finish(task: Task): Promise<Done> {
  const asking = new Asking(toolsFor(await ready, task.terms.origin), task.terms, end.signal);
  const state = 'face' in task ? task.face.state : {};
  const done = await work(task, asking).catch(
    (error: unknown): Done => ({ ...NOTHING, state, every: AFTER_TROUBLE, trouble: inWords(error) }),
  );
  const notices = believable(done.notices, task.terms.origin, asking.now);
  return { ...done, notices, spent: asking.spent, news: asking.news };
}

port.on('message', async ({ id, task }: TaskMessage) => {
  port.postMessage({ id, done: await finish(task) } satisfies DoneMessage);
});
