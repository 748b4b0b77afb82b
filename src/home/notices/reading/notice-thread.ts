/** The thread behind notice-reader.ts: asks faces and reads what they say. It forgets terms that it told, and writes nothing else. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ClientCertificates } from '../../../crawler/fetch/tls.ts';
import { toolsFor } from '../../../crawler/tools.ts';
import { unpackFacts } from '../../../errand/facts.ts';
import { Ledger } from '../../../ledger/ledger.ts';
import { isUnspoken } from '../../../ledger/pages/known-row.ts';
import { believable } from '../../../notices/notice.ts';
import { makeTools, type OutpostOptions } from '../../../outpost/workers/tools.ts';
import { openCopies } from '../../copies/copies.ts';
import { searchFile } from '../../indexing/indexing.ts';
import { readIdentities } from '../identities.ts';
import { type Done, type DoneMessage, NOTHING, type Task, type TaskMessage } from '../messages.ts';
import { Asking } from './asking.ts';
import { type Copy, discover } from './discover.ts';
import { verifyKey } from './indexnow.ts';
import { inWords, pollCursor } from './read-cursor.ts';
import { pollFeed } from './read-feed.ts';
import { pollSync } from './read-sync.ts';
import type { HeldPage, Holdings } from './reconcile.ts';
import { tellSearched } from './tell-searched.ts';
import { readDelivery, subscribe } from './websub.ts';

const port = parentPort!;
const data = workerData as OutpostOptions;
/** Of all partitions that show nobody a certificate. */
const usual = makeTools(data);
const end = new AbortController();
/** Milliseconds until a face is asked again that went wrong. */
const AFTER_TROUBLE = 3_600_000;
/** Pages of a server that are searched for links to faces, and bytes of each. */
const PAGES_SEARCHED = 3;
const BYTES_SEARCHED = 200_000;

/** A partition as it is now. */
class PartitionFiles {
  readonly directory: string;
  readonly #identities: ClientCertificates;
  readonly tools: typeof usual;

  constructor(directory: string) {
    this.directory = directory;
    this.#identities = readIdentities(directory);
    this.tools =
      Object.keys(this.#identities).length === 0 ? usual : makeTools({ ...data, identities: this.#identities });
  }

  /** Pages that were seen, with the content that they had. */
  readonly holdings: Holdings = origin =>
    this.#looking(ledger => {
      const server = ledger.servers.find(origin);
      const held: HeldPage[] = [];
      for (const { id } of server ? ledger.queries.scans.ofServer(server.id) : []) {
        const known = ledger.pages.known(id);
        const seen = known?.outcome === 'fetched' || known?.outcome === 'same';
        const content = seen && known.facts ? unpackFacts(known.facts)?.content : undefined;
        if (content) held.push({ url: ledger.pages.get(id)!.url, content, spoken: !isUnspoken(known!) });
      }
      return held;
    });

  /** The first pages of a server that were stored. */
  async copiesOf(origin: string): Promise<Copy[]> {
    using opened = new DisposableStack();
    const ledger = opened.adopt(new Ledger(this.directory, 'read'), each => each.close());
    const copies = opened.adopt(openCopies(ledger), each => each.close());
    const server = ledger.servers.find(origin);
    const found: Copy[] = [];
    for (const { id } of server ? ledger.queries.scans.ofServer(server.id) : []) {
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

  tokenFor(origin: string): string | undefined {
    return this.#looking(ledger => ledger.settings.get<Record<string, string>>('site tokens')?.[origin]);
  }

  accessTo(origin: string): { token: string | undefined; certified: boolean } {
    return { token: this.tokenFor(origin), certified: this.#identities[origin] !== undefined };
  }

  #looking<T>(look: (ledger: Ledger) => T): T {
    const ledger = new Ledger(this.directory, 'read');
    try {
      return look(ledger);
    } finally {
      ledger.close();
    }
  }
}

/** By directory. */
const partitions = new Map<string, PartitionFiles>();

async function work(task: Task, asking: Asking, files: PartitionFiles): Promise<Done> {
  const { terms } = task;
  const { origin } = terms;
  switch (task.kind) {
    case 'discover':
      return discover(asking, origin, { robots: terms.robots?.body ?? '', copies: await files.copiesOf(origin) });
    case 'poll':
      if (task.face.kind === 'feed') return pollFeed(asking, task.face);
      if (task.face.kind === 'resourcesync') return pollSync({ asking, holdings: files.holdings }, task.face);
      return pollCursor({ asking, holdings: files.holdings, ...files.accessTo(origin) }, task.face, task.wait);
    case 'subscribe':
      return subscribe(asking, task.face, task.callback);
    case 'read':
      return readDelivery(task.face, task.bytes);
    case 'searched':
      return tellSearched(asking, { origin, token: files.tokenFor(origin), file: searchFile(files.directory) });
    case 'verify':
      return verifyKey(asking, task.key, task.location);
  }
}

/** What went wrong is a sentence; only a bug ends the thread. */
async function finish(directory: string, task: Task): Promise<Done> {
  const files = partitions.get(directory) ?? new PartitionFiles(directory);
  partitions.set(directory, files);
  const asking = new Asking(toolsFor(await files.tools, task.terms.origin), task.terms, end.signal);
  const state = 'face' in task ? task.face.state : {};
  const done = await work(task, asking, files).catch(
    (error: unknown): Done => ({ ...NOTHING, state, every: AFTER_TROUBLE, trouble: inWords(error) }),
  );
  const notices = believable(done.notices, task.terms.origin, asking.now);
  return { ...done, notices, spent: asking.spent, news: asking.news };
}

port.on('message', async ({ id, directory, task }: TaskMessage) => {
  port.postMessage({ id, done: await finish(directory, task) } satisfies DoneMessage);
});
