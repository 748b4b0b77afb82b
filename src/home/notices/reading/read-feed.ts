/** Feeds: asked at the pace that they name, with validators; entries that are newer than the last ones are notices. */
import { DAY, HOUR } from '../../../base/clock.ts';
import type { FaceState } from '../../../ledger/schedule/faces.ts';
import { type Feed, parseFeed } from '../../../notices/feed.ts';
import type { Notice } from '../../../notices/notice.ts';
import { type AskedFaces, type Done, type FoundFaces, NOTHING } from '../messages.ts';
import { type Answered, type Asking, conditionsOf, validatorsOf } from './asking.ts';

const MOST_BYTES = 8 << 20;
/** Between two looks at a feed, whatever it says of itself; and where it says nothing. Milliseconds. */
const SOONEST = HOUR / 12;
const LATEST = 7 * DAY;
const USUAL = HOUR;

export async function pollFeed(asking: Asking, { url, state }: AskedFaces): Promise<Done> {
  const ask = { url, maxBytes: MOST_BYTES, accept: 'application/atom+xml, application/rss+xml, */*;q=0.5' };
  const answer = await asking.own({ ...ask, ...conditionsOf(state) });
  if (answer.status === 304) return { ...NOTHING, state, every: paceOf(answer, 0) };
  if (answer.status !== 200) return { ...NOTHING, state, every: USUAL, trouble: `the feed answers ${answer.status}` };
  const feed = parseFeed(answer.body, answer.url);
  if (feed.format === 'none') return { ...NOTHING, state, every: DAY, trouble: 'it is not a feed' };
  return {
    ...NOTHING,
    ...newsOf(feed, state, 'feed', answer),
    every: paceOf(answer, feed.every),
    found: hubsOf(feed, answer.url),
  };
}

/** What a feed says that it did not say the last time. Entries without a date say nothing of when. */
export function newsOf(
  feed: Feed,
  state: FaceState,
  kind: Notice['kind'],
  answer?: Answered,
): Pick<Done, 'notices' | 'state'> {
  const since = state.until ?? 0;
  let until = since;
  const notices: Notice[] = [];
  for (const { url, time = 0 } of feed.entries) {
    // A feed that is read for the first time tells of pages that a crawl has found, or will.
    if (time <= since && !(time === 0 && since === 0)) continue;
    until = Math.max(until, time);
    notices.push({ kind, url, change: 'updated', time });
  }
  return { notices, state: { ...state, ...(answer && validatorsOf(answer.headers)), ...(until > 0 && { until }) } };
}

/** The hubs that a feed names, each with the topic to name to it. */
function hubsOf({ hubs, self }: Feed, url: string): FoundFaces[] {
  if (hubs.length === 0) return [];
  return [
    { kind: 'hub', url: hubs[0]!, where: 'feed' },
    { kind: 'topic', url: self ?? url, where: 'feed' },
  ];
}

/** What the feed says of itself, or how long its answer may be kept. */
function paceOf({ headers }: Answered, every: number): number {
  const kept = Number(/(?:^|[\s,])max-age=(\d{1,9})/i.exec(headers.get('cache-control') ?? '')?.[1] ?? 0) * 1000;
  return Math.min(LATEST, Math.max(SOONEST, every || kept || USUAL));
}
