/**
 * WebSub, the subscriber's side that speaks first: asks a hub to tell us of a topic. What the hub then does (verify,
 * deliver) comes in through the public door. And the reading of what it delivered.
 */
import { DAY, HOUR } from '../../../base/clock.ts';
import { parseFeed } from '../../../notices/feed.ts';
import { type AskedFaces, type Done, NOTHING } from '../messages.ts';
import type { Asking } from './asking.ts';
import { newsOf } from './read-feed.ts';

/** Seconds that we ask a hub to tell us for. */
const LEASE_SECONDS = 10 * 24 * 3600;
const MOST_BYTES = 65_536;
/** Milliseconds in which a hub has to verify; later it is asked again, ever more rarely. */
export const VERIFY_WITHIN = HOUR;
export const MOST_LEASE = 30 * DAY;

export async function subscribe(asking: Asking, { url, state }: AskedFaces, callback: string): Promise<Done> {
  const form = new URLSearchParams({
    ...{ 'hub.mode': 'subscribe', 'hub.topic': url, 'hub.callback': callback },
    ...{ 'hub.lease_seconds': String(LEASE_SECONDS), 'hub.secret': state.secret! },
  });
  const content = { type: 'application/x-www-form-urlencoded', bytes: Buffer.from(form.toString()) };
  const answer = await asking.other({ url: state.hub!, method: 'POST', content, maxBytes: MOST_BYTES });
  const granted = answer.status === 202 || answer.status === 204;
  const trouble = granted ? '' : `the hub answers ${answer.status}`;
  return { ...NOTHING, state: { ...state, asked: asking.now }, every: VERIFY_WITHIN, granted, trouble };
}

/** What a hub delivered: the feed itself, or a part of it. Anything else says that something is new, not what. */
export function readDelivery({ url, state }: AskedFaces, bytes: Uint8Array): Done {
  const feed = parseFeed(bytes, url);
  if (feed.format === 'none') {
    return { ...NOTHING, state, notices: [{ kind: 'websub', url, change: 'updated', time: 0 }] };
  }
  return { ...NOTHING, ...newsOf(feed, state, 'websub') };
}
