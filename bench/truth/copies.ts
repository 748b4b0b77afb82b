/** Whether the copy that Skein hands out is the day's page, by the labels that come with the recorded sites. */
import { createHash } from 'node:crypto';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { editsBetween } from '../../src/judge/edits.ts';
import { pagesOf, type Replay } from '../bytes/replay.ts';
import { openBlobs, type Truth, truthOf } from '../histories.ts';

/** Right by all that a reader sees; right but for what many pages share; `same`: byte for byte. */
export interface Right {
  readonly all: boolean;
  readonly own: boolean;
  readonly same: boolean;
}

const WRONG: Right = { all: false, own: false, same: false };
const SAME: Right = { all: true, own: true, same: true };

/** What a reader must be told of. Markup is a grey zone; the bytes of pictures are not fetched here. */
export function mustTell({ c, sub, img }: Truth): boolean {
  if (c === 'images') return img?.join() !== 'bytes';
  return c === 'text' || (c === 'structure' && !sub?.includes('markup'));
}

const digestOf = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64');

/** Asked day after day, in order. */
export class CopyTruth {
  readonly #blob = openBlobs();
  readonly #origins: ReadonlyMap<string, string>;
  /** Of each page: what is served on the day that began last. */
  readonly #today = new Map<string, () => Buffer>();
  /** Digest of each blob as it is served. */
  readonly #served = new Map<string, string>();
  /** Of each page: the last day on which a digest was served. */
  readonly #days = new Map<string, Map<string, number>>();
  /** Of each page: the days on which it changed. */
  readonly #changes = new Map<string, { readonly day: number; readonly shared: boolean }[]>();

  constructor({ origins }: Replay) {
    this.#origins = origins;
    this.begin(0);
  }

  begin(day: number): void {
    for (const { s, u, b } of pagesOf(day)) {
      this.#today.set(s + u, () => this.#written(b));
      const days = this.#days.get(s + u) ?? new Map<string, number>();
      this.#days.set(s + u, days.set(this.#digest(s, b), day));
    }
    for (const truth of truthOf(day)) {
      if (!mustTell(truth) && truth.c !== 'added') continue;
      const key = truth.s + truth.u;
      this.#changes.set(key, [...(this.#changes.get(key) ?? []), { day, shared: truth.shared === true }]);
    }
  }

  /** `page`: host and path. */
  of(page: string, day: number, copy: Uint8Array | undefined): Right {
    if (!copy) return WRONG;
    const from = this.#days.get(page)?.get(digestOf(copy));
    if (from === undefined) return WRONG;
    if (from === day) return SAME;
    const missed = (this.#changes.get(page) ?? []).filter(change => change.day > from && change.day <= day);
    return { all: missed.length === 0, own: missed.every(({ shared }) => shared), same: false };
  }

  /**
   * A copy that was never served like this, because it was inferred: right when a reader finds the same text, links and
   * pictures as in the day's page. What many pages share is not told apart.
   */
  inferred(page: string, day: number, copy: Uint8Array): Right {
    const exact = this.of(page, day, copy);
    if (exact.all) return exact;
    const all = isSameForReaders(copy, this.#today.get(page)!());
    return { all, own: all, same: false };
  }

  #digest(host: string, blob: string): string {
    const key = `${host} ${blob}`;
    let digest = this.#served.get(key);
    if (digest === undefined) {
      digest = digestOf(this.#written(blob));
      this.#served.set(key, digest);
    }
    return digest;
  }

  #written(blob: string): Buffer {
    return asServed(this.#blob(blob), this.#origins);
  }
}

/** The server writes links to the recorded hosts anew, so that they lead to itself. */
export function asServed(blob: Buffer, origins: ReadonlyMap<string, string>): Buffer {
  const written = blob
    .toString('latin1')
    .replace(/https?:\/\/([a-z0-9.-]+)/gi, (link, name: string) => origins.get(name.toLowerCase()) ?? link);
  return Buffer.from(written, 'latin1');
}

/** Text, links and pictures are the same by our own comparison, which is less than byte for byte. */
export function isSameForReaders(copy: Uint8Array, page: Uint8Array): boolean {
  const headers = new Map([['content-type', 'text/html']]);
  const held = piecesOf({ headers, body: copy });
  const now = piecesOf({ headers, body: page });
  return held && now ? editsBetween(held, now).edits.every(({ list }) => list === 'tags') : false;
}
