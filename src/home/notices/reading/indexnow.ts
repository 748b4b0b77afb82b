/**
 * IndexNow, the receiving side: what a submission says, and whether the host has the key that it names. Nothing that was
 * submitted is believed before the host itself has shown the key.
 */
import { timingSafeEqual } from 'node:crypto';
import { DAY } from '../../../base/clock.ts';
import { normalise, originOf } from '../../../base/url.ts';
import { type Done, NOTHING } from '../messages.ts';
import type { Asking } from './asking.ts';

export interface Submission {
  /** Of the pages, all of them. */
  readonly origin: string;
  readonly key: string;
  /** Where the key is to be found; on that origin. */
  readonly location: string;
  readonly urls: readonly string[];
}

/** URLs in one submission, as the protocol has it; characters of it. */
const MOST_SUBMITTED = 10_000;
export const SUBMISSION_BYTES = 4 << 20;
const KEY = /^[a-zA-Z0-9-]{8,128}$/;

/** One page in the query: `?url=…&key=…[&keyLocation=…]`. Undefined = it is none. */
export function submittedInQuery(query: URLSearchParams): Submission | undefined {
  const [url, key, location] = ['url', 'key', 'keyLocation'].map(name => query.get(name) ?? '');
  return submissionOf([url!], key!, location!);
}

/** The JSON form. Undefined = it is none, or has too many. */
export function submittedInJson(text: string): Submission | undefined {
  let json: { key?: unknown; keyLocation?: unknown; urlList?: unknown };
  try {
    json = JSON.parse(text);
  } catch {
    return undefined; // a stranger's nonsense: the door says so
  }
  if (typeof json !== 'object' || json === null || !Array.isArray(json.urlList)) return undefined;
  const { key, keyLocation = '', urlList } = json;
  if (typeof key !== 'string' || typeof keyLocation !== 'string' || urlList.length > MOST_SUBMITTED) return undefined;
  return urlList.every(url => typeof url === 'string') ? submissionOf(urlList, key, keyLocation) : undefined;
}

/** All pages of one host: a submission that names others is refused as a whole. */
function submissionOf(urls: readonly string[], key: string, written: string): Submission | undefined {
  const pages = urls.map(url => (url.length > 4000 ? undefined : normalise(url)));
  const [first] = pages;
  if (!KEY.test(key) || first === undefined || pages.some(page => page === undefined)) return undefined;
  const origin = originOf(first);
  if (!pages.every(page => originOf(page!) === origin)) return undefined;
  const location = written === '' ? `${origin}/${key}.txt` : normalise(written, `${origin}/`);
  if (location === undefined || originOf(location) !== origin) return undefined;
  // A key speaks for the folder that it lies in.
  const folder = location.slice(0, location.lastIndexOf('/') + 1);
  if (!pages.every(page => page!.startsWith(folder))) return undefined;
  return { origin, key, location, urls: pages as string[] };
}

/** Asks the host for the key. */
export async function verifyKey(asking: Asking, key: string, location: string): Promise<Done> {
  const { status, body } = await asking.own({ url: location, maxBytes: 4096, accept: 'text/plain' });
  const found = Buffer.from(Buffer.from(body).toString('latin1').trim());
  const wanted = Buffer.from(key);
  const granted = status === 200 && found.length === wanted.length && timingSafeEqual(found, wanted);
  return { ...NOTHING, granted, every: DAY, trouble: granted ? '' : 'the host does not have the key' };
}
