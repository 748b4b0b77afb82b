/**
 * The thread behind a site that gives its pages in bulk, or sends them as differences: the crawler, with a fetcher that has
 * the pages already, or that holds the copies which differences are made from.
 */
import { parentPort } from 'node:worker_threads';
import { fingerprint } from '../../../base/url.ts';
import { oneFetcher } from '../../../crawler/fetchers.ts';
import { Pace } from '../../../crawler/pace/pace.ts';
import { toolsFor } from '../../../crawler/tools.ts';
import { decodeErrand } from '../../../errand/codec/errand-codec.ts';
import { encodeVisits } from '../../../errand/codec/parcel-codec.ts';
import type { Parcel } from '../../../errand/parcel.ts';
import { Ledger } from '../../../ledger/ledger.ts';
import { Deciders } from '../../../outpost/cages/deciders.ts';
import { Outpost } from '../../../outpost/outpost.ts';
import { makeTools, type OutpostOptions } from '../../../outpost/workers/tools.ts';
import type { ThreadMessage } from '../../../transfer/thread.ts';
import { openCopies } from '../../copies/copies.ts';
import { readIdentities } from '../identities.ts';
import { BulkFetcher, type Held } from './bulk-fetcher.ts';
import { DictionaryFetcher } from './dictionary-fetcher.ts';

export interface SiteThreadData extends OutpostOptions {
  /** Of the partition. */
  readonly directory: string;
  /** Of the site. */
  readonly origin: string;
  /** Where pages are to be had in bulk; undefined = each is asked for, as a difference. */
  readonly pagesAt: string | undefined;
}

const port = parentPort!;
const say = (message: ThreadMessage) => port.postMessage(message);
const ready = Promise.withResolvers<{ readonly outpost: Outpost; readonly bulk?: BulkFetcher }>();
const end = new AbortController();
/** Bytes of a copy that a difference is made against. */
const MOST_HELD = 8 << 20;

async function open(data: SiteThreadData) {
  const outpostTools = await makeTools({ ...data, identities: readIdentities(data.directory) });
  const tools = toolsFor(outpostTools, data.origin);
  const ledger = new Ledger(data.directory, 'read');
  const copies = openCopies(ledger);
  const token = ledger.settings.get<Record<string, string>>('site tokens')?.[data.origin];
  const find = (url: string) => {
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    return ledger.pages.find(high, low);
  };
  const isHidden = (url: string) => ledger.links.hidden.of(find(url)?.id ?? 0) !== undefined;
  const held = async (url: string): Promise<Held | undefined> => {
    const page = find(url);
    const known = page && ledger.pages.known(page.id);
    const stored = known && (await copies.newest(known));
    const plain = stored?.decoded(MOST_HELD);
    return plain && plain.problem === undefined ? { headers: stored!.headers, body: plain.bytes } : undefined;
  };
  const deciders = new Deciders({ own: true }, text => say({ kind: 'trouble', text }));
  if (data.decider) deciders.add(data.decider);
  const gaveUp = (errand: string, why: string) => say({ kind: 'gave-up', errand, why });
  if (data.pagesAt === undefined) {
    const fetchers = oneFetcher(new DictionaryFetcher(tools.fetcher, held));
    return { outpost: new Outpost({ ...outpostTools, fetchers }, deciders, { parcel: deliver, gaveUp }) };
  }
  const trouble = (why: string) =>
    say({ kind: 'trouble', text: `${data.origin}: ${why}; Skein fetches its pages one by one.` });
  const bulk = new BulkFetcher({ tools, pagesAt: data.pagesAt, token, held, isHidden, trouble });
  // Nothing paces what is here already; what has to be asked for takes its turn from the fetcher's own.
  const pace = new Pace(tools.clock);
  const outpost = new Outpost({ ...outpostTools, pace, fetchers: oneFetcher(bulk) }, deciders, {
    parcel: deliver,
    gaveUp,
  });
  return { outpost, bulk };
}

function deliver(parcel: Parcel): void {
  const visits = encodeVisits(parcel) as Uint8Array<ArrayBuffer>;
  const members = parcel.members as Uint8Array<ArrayBuffer>;
  port.postMessage({ kind: 'parcel', visits, members } satisfies ThreadMessage, [visits.buffer, members.buffer]);
}

port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'start') return ready.resolve(open(message.data as SiteThreadData));
  const { outpost, bulk } = await ready.promise;
  if (message.kind === 'errand') {
    const errand = decodeErrand(message.bytes);
    outpost.receive(bulk ? await bulk.gather(errand, end.signal) : errand);
  }
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    end.abort();
    await outpost.close();
    port.close();
  }
});
