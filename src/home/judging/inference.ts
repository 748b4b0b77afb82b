/**
 * Copies of pages that nobody has fetched, inferred from edits that many pages share: once some pages have shown the same
 * edit between the same neighbours, it is applied to the copies of the others that were last seen before. Runs in the
 * judge's thread. What it makes is marked as inferred wherever it is shown, and never stored as fetched.
 */
import { deltaTo, messageOf } from '../../archive/following.ts';
import type { Stored } from '../../archive/read.ts';
import { HOUR } from '../../base/clock.ts';
import { shares } from '../../judge/review.ts';
import { appliedTo, isContrary, type NoiseRule, reverseKey, ruleKey, rulesBetween } from '../../judge/rules.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { InferredRow } from '../../ledger/storage/inferred.ts';
import { type Copies, copyPlaceOf } from '../copies/copies.ts';

/** What pages have shown of a rule. */
interface ShownRule {
  readonly rule: NoiseRule;
  pages: number;
  /** Where these pages are. */
  readonly folders: Set<string>;
  /** Time of the earliest look that showed it. */
  since: number;
}

/** Bounds of what is remembered of a server, and of its pages that are read for one inference. */
const MOST_RULES = 20_000;
const MOST_PAGES = 20_000;
/** In a folder that showed neither: for each look that showed the old state, so many must have shown the new one. */
const LEAST_CONFIRMED = 4;
/** Looks so many milliseconds before the first that showed an edit are taken to be as late as that. */
const SAME_ROUND = HOUR;

/** A visit to a page. */
interface LookedPage {
  readonly server: number;
  readonly time: number;
  readonly url: string;
}

export class Inference {
  readonly #servers = new Map<number, Map<number, ShownRule>>();

  /** Two bodies of a page, both fetched, one after the other. */
  see({ server, time, url }: LookedPage, before: string, after: string): void {
    const known = this.#servers.get(server) ?? new Map<number, ShownRule>();
    this.#servers.set(server, known);
    const seen = new Map(rulesBetween(before, after).map(rule => [ruleKey(rule), rule]));
    for (const [key, rule] of seen) {
      const shown = known.get(key);
      if (shown) {
        shown.pages++;
        shown.folders.add(folderOf(url));
        shown.since = Math.min(shown.since, time);
      } else if (known.size < MOST_RULES) {
        known.set(key, { rule, pages: 1, folders: new Set([folderOf(url)]), since: time });
      }
    }
  }

  /** What follows for pages that were not fetched since. */
  async infer(ledger: Ledger, copies: Copies): Promise<InferredRow[]> {
    const inferred: InferredRow[] = [];
    for (const [server, known] of this.#servers) {
      const pages = [...ledger.queries.scans.ofServer(server)].slice(0, MOST_PAGES).map(({ id }) => id);
      const confirmed = confirmedAmong(known, pages.length);
      if (confirmed.length > 0) inferred.push(...(await inferredFor(confirmed, pagesIn(ledger, copies, pages))));
    }
    return inferred;
  }
}

/** Shown by as many pages as make an edit one of the server, and never the other way round; the widest context first. */
function confirmedAmong(known: ReadonlyMap<number, ShownRule>, pages: number): ShownRule[] {
  const enough = Math.max(shares.leastPages, shares.leastShare * pages);
  return [...known.values()]
    .filter(shown => shown.pages >= enough && !known.has(reverseKey(shown.rule)))
    .sort((a, b) => lengthOf(b.rule) - lengthOf(a.rule));
}

const lengthOf = ({ ahead, behind }: NoiseRule): number => ahead.length + behind.length;

interface InferredPage {
  readonly known: KnownRow;
  readonly url: string;
  /** The newest stored version, and the copy that has followed it. */
  readonly base: Stored;
  readonly copy: Stored;
  readonly body: string;
}

async function* pagesIn(ledger: Ledger, copies: Copies, ids: readonly number[]): AsyncGenerator<InferredPage> {
  for (const id of ids) {
    const known = ledger.pages.known(id);
    if (!known || known.segment === null || (known.outcome !== 'fetched' && known.outcome !== 'same')) continue;
    const base = await readable(copies.stored(copyPlaceOf(known)!));
    const copy = base && (await readable(copies.newest(known)));
    const { bytes, problem } = copy?.decoded() ?? { bytes: new Uint8Array(0), problem: 'none' };
    if (!base || !copy || problem !== undefined) continue;
    yield { known, base, copy, url: ledger.pages.get(id)!.url, body: Buffer.from(bytes).toString('latin1') };
  }
}

async function readable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch {
    return undefined; // `skein verify` names it
  }
}

async function inferredFor(
  confirmed: readonly ShownRule[],
  pages: AsyncIterable<InferredPage>,
): Promise<InferredRow[]> {
  const contrary = new Map<ShownRule, { pages: number; folders: Set<string> }>();
  const waiting: { page: InferredPage; shown: ShownRule[] }[] = [];
  for await (const page of pages) {
    const about = confirmed.filter(({ rule }) => isContrary(page.body, rule));
    const shown = about.filter(({ since }) => page.known.seen_time! < since - SAME_ROUND);
    for (const each of about.filter(one => !shown.includes(one))) {
      const found = contrary.get(each) ?? { pages: 0, folders: new Set() };
      contrary.set(each, { pages: found.pages + 1, folders: found.folders.add(folderOf(page.url)) });
    }
    if (shown.length > 0) waiting.push({ page, shown });
  }
  return waiting.flatMap(({ page, shown }) => {
    const rules = shown.filter(each => {
      const against = contrary.get(each);
      const folder = folderOf(page.url);
      if (!against || against.folders.has(folder)) return !against;
      return each.folders.has(folder) || LEAST_CONFIRMED * against.pages <= each.pages;
    });
    const row = inferredRow(page, rules);
    return row ? [row] : [];
  });
}

function inferredRow(
  { known, base, copy, url, body }: InferredPage,
  shown: readonly ShownRule[],
): InferredRow | undefined {
  const patched = appliedTo(
    body,
    shown.map(({ rule }) => rule),
  );
  if (patched === undefined) return undefined;
  const time = Math.max(...shown.map(({ since }) => since));
  const seen = Math.max(...shown.map(({ pages }) => pages));
  const told = `${new Date(time).toISOString()}; shared edits seen on ${seen} pages`;
  const message = deltaTo(messageWith(copy, patched, told), messageOf(base));
  const { segment, place } = known;
  return { page: known.page, folder: folderOf(url), time, pages: seen, segment: segment!, place: place!, ...message };
}

/** The copy with another body, and a header that says what it is. */
function messageWith(copy: Stored, body: string, told: string): Uint8Array {
  const lines = Buffer.from(copy.head).toString('latin1').trimEnd().split('\r\n');
  const kept = lines.filter(
    line => !/^(?:content-(?:encoding|length)|transfer-encoding|etag|digest)[ \t]*:/i.test(line),
  );
  const head = [...kept, `Skein-Inferred: ${told}`, '', ''].join('\r\n');
  return Buffer.from(head + body, 'latin1');
}

/** Up to the last slash of the path. */
function folderOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.slice(0, pathname.lastIndexOf('/') + 1);
}

/** Whether a page that was fetched still has what an inferred copy had replaced: the inference was wrong. */
export function refutes(fetched: string, before: string, inferred: string): boolean {
  return rulesBetween(before, inferred).some(rule => isContrary(fetched, rule));
}
