/**
 * `skein peers`: the machines of a cluster, and what each has; `skein peers leave NAME` asks one to hand over and end. On a
 * machine of the cluster its data directory knows where the engine is, and what the machine is called.
 */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import type { ClusterEngine } from '../../cluster/engine.ts';
import type { ClusterView, figuresOf as figuresIn, PeerView } from '../../cluster/view.ts';
import { type Remembered, rememberedCluster } from '../../ledger/collection/cluster-file.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, plural, table } from '../print/terminal.ts';

const COLUMNS = [
  'peer',
  'state',
  'capacity',
  'partitions',
  'share',
  'servers',
  '',
  'pages',
  '',
  '/s',
  'beats',
  'changelog',
  'exchange',
  'skein',
];
/** Milliseconds without a heartbeat after which others take a peer's partitions. */
const DEAD = 10_000;
/** Pairs of peers that the table of links shows. */
const MOST_PAIRS = 20;

export function addPeersCommand(program: Command): void {
  const command = program
    .command('peers')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
beats: heartbeats since it was started, one a second;
changelog: changes that the engine has not confirmed;
exchange: links that are not processed yet.

Examples:
  skein peers
  skein peers --engine nats://a,b,c
  skein peers leave machine-2 --engine nats://a,b,c`,
    );
  declare(command, ['data', 'engine']).action(async (given: Record<string, unknown>) => {
    const { engine: address } = await named(given);
    await using engine = await open(address);
    const { figuresOf, viewCluster } = await import('../../cluster/view.ts');
    const seen = await viewCluster(engine);
    if (given['json']) printJson({ engine: engine.shown, collection: engine.collection.id, ...figuresOf(seen) });
    else show(engine, seen, figuresOf(seen));
  });
  addLeave(command);
  addKey(command);
}

function addKey(peers: Command): void {
  peers
    .command('key <file>')
    .description('create a key for the engine: the secret goes into the file, the rest into the server configuration')
    .addHelpText(
      'after',
      '\nExample:\n  skein peers key peer.nk\n  skein crawl --engine "tls://a,b,c?ca=ca.pem&nkey=peer.nk"',
    )
    .action(async (file: string) => {
      const { nkeys } = await import('@nats-io/transport-node');
      const pair = nkeys.createUser();
      try {
        writeFileSync(file, `${new TextDecoder().decode(pair.getSeed())}\n`, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        throw new SkeinError('bad-option', `${file} cannot be written: ${systemWords(error)}.`, 'Name a new file.');
      }
      console.log(pair.getPublicKey());
    });
}

function addLeave(peers: Command): void {
  const command = peers
    .command('leave [name]')
    .description('hand the partitions of a peer to the others and end it; default: the peer of this machine')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein peers leave machine-2 --engine nats://a,b,c');
  declare(command, ['data', 'engine']).action(async (name: string | undefined) => {
    const given = command.optsWithGlobals<Record<string, unknown>>();
    const { engine: address, peer: itself } = await named(given);
    await using engine = await open(address);
    const { peerNameOf } = await import('../../cluster/topology/layout.ts');
    const peer = name ?? itself ?? peerNameOf(hostname());
    await leave(engine, peer);
    if (given['json']) printJson({ peer, left: true });
    else console.log(`${peer} has handed over its partitions and left.`);
  });
}

/** The engine that is named, else the one that the data directory is a part of; `peer`: what this machine is called there. */
async function named(given: Record<string, unknown>): Promise<Pick<Remembered, 'engine'> & Partial<Remembered>> {
  const { data, engine } = await values(given, ['data', 'engine']);
  const remembered = rememberedCluster(data);
  if (engine !== undefined) return { ...remembered, engine };
  if (remembered) return remembered;
  throw new SkeinError(
    'bad-option',
    `Which cluster? ${data} is no part of one.`,
    'Name its engine: --engine nats://host1,host2,host3; or the directory of a peer: --data DIR.',
  );
}

async function open(address: string): Promise<ClusterEngine> {
  const { openEngine } = await import('../../cluster/engine.ts');
  const { readEngineAddress } = await import('../../cluster/connection/address.ts');
  return openEngine({ address: readEngineAddress(address), name: 'skein peers', looks: true });
}

/** Resolves when the peer has said goodbye. */
async function leave(engine: ClusterEngine, peer: string): Promise<void> {
  const { scatter } = await import('../../cluster/rpc/scatter.ts');
  const { heartbeatSubject, PEER_NAME } = await import('../../cluster/topology/layout.ts');
  const { decodeHeartbeat } = await import('../../cluster/members/heartbeat.ts');
  if (!PEER_NAME.test(peer)) throw new SkeinError('bad-option', `${JSON.stringify(peer)} is not a valid peer name.`);
  const gone = Promise.withResolvers<void>();
  const silence = setTimeout(() => gone.reject(silentError(peer)), DEAD);
  let left = -1;
  const subscription = engine.connection.subscribe(heartbeatSubject(peer), {
    callback: (_error, { data }) => {
      silence.refresh();
      const heartbeat = decodeHeartbeat(data);
      if (heartbeat?.phase === 'bye') return gone.resolve();
      if (heartbeat?.phase !== 'leaving' || heartbeat.partitions === left) return;
      left = heartbeat.partitions;
      console.error(`${peer} still has ${plural(left, 'partition', 'partitions')} to hand over …`);
    },
  });
  try {
    const { silent } = await scatter(engine.connection, [peer], { name: 'leave', args: null });
    const why = silent.get(peer);
    if (why !== undefined)
      throw new SkeinError(
        'not-found',
        `The peer ${peer} was not asked to leave: ${harmless(why)}`,
        'See: skein peers.',
      );
    await gone.promise;
  } finally {
    clearTimeout(silence);
    subscription.unsubscribe();
  }
}

function silentError(peer: string): SkeinError {
  return new SkeinError(
    'no-engine',
    `The peer ${peer} was asked to leave, and has not been heard for ${DEAD / 1000} s.`,
    'If it has died, the others take its partitions; see: skein peers.',
  );
}

type PeerFigures = ReturnType<typeof figuresIn>;

function show(engine: ClusterEngine, view: ClusterView, figures: PeerFigures): void {
  const { claims, wanted, peers } = view;
  const here = peers.filter(({ heartbeat }) => heartbeat).length;
  console.log(paint('bold', `${plural(here, 'peer', 'peers')} at ${engine.shown}.`));
  const shown = (value: number | null) => value ?? '–';
  const percent = (share: number | null) => (share === null ? '–' : `${Math.round(100 * share)}%`);
  const rows = figures.peers.map(each => [
    ...[each.peer, each.state, shown(each.capacity), each.partitions, percent(each.share)],
    ...[shown(each.servers), percent(each.serverShare), shown(each.pages), percent(each.pageShare)],
    ...[shown(each.rate === null ? null : Math.round(each.rate)), shown(each.heartbeats)],
    ...[shown(each.changelogLag), shown(each.exchangeLag), harmless(each.skein ?? '–')],
  ]);
  if (rows.length > 0) console.log(table(COLUMNS, rows));
  for (const { name, trouble } of peers) if (trouble !== undefined) console.log(`${name}: ${harmless(trouble)}`);
  const free = claims.filter(claim => !claim?.peer).length;
  const moving = claims.filter((claim, i) => claim?.peer && wanted[i] !== undefined && wanted[i] !== claim.peer).length;
  console.log(
    `${plural(claims.length, 'partition', 'partitions')}: ${free} held by no peer, ${moving} moving to another peer.`,
  );
  showExchanged(peers);
}

function showExchanged(peers: readonly PeerView[]): void {
  const pairs = peers.flatMap(({ name, heartbeat }) =>
    (heartbeat?.exchanged ?? []).filter(([, sent]) => sent > 0).map(([to, sent]) => [name, to, sent] as const),
  );
  if (pairs.length === 0) return;
  const most = pairs.toSorted((a, b) => b[2] - a[2]).slice(0, MOST_PAIRS);
  const rows = most.map(([from, to, sent]) => [from, to, sent, receivedBy(peers, from, to)]);
  console.log(`\n${table(['links from', 'to', 'sent', 'received'], rows)}`);
  if (pairs.length > MOST_PAIRS) console.log(`and ${pairs.length - MOST_PAIRS} more pairs; --json has them all`);
}

function receivedBy(peers: readonly PeerView[], from: string, to: string): number | string {
  const there = peers.find(({ name }) => name === to)?.heartbeat?.exchanged;
  return there?.find(([other]) => other === from)?.[2] ?? '–';
}
