/** Changes since a visit that a rule is about, weighed: read from ledger and archive, nothing is remembered here. */
import { changesIn, type FoundChange } from '../home/answers/changes.ts';
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { VisitRow } from '../ledger/visits.ts';
import type { ToldChange } from './message.ts';
import type { Rule } from './rule.ts';
import { type Weighed, type WeighedVersion, weigh } from './weigh-change.ts';

export interface ChangeCandidate {
  /** The visit that saw it. */
  readonly visit: number;
  readonly change: ToldChange;
  readonly weighed: Weighed;
}

/** Bytes of a page that are read. */
const MOST = 4_000_000;
/** Changes that are read at once, and at most to find those that a rule is tried on. */
const SOME = 200;
const MOST_TRIED = 10_000;
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const TEXTUAL = /^(?:text\/|application\/(?:.*[+])?(?:json|xml)\b|$)/i;

export class ChangeFinder {
  readonly ledger: Ledger;
  readonly #copies: Copies;

  constructor(directory: string) {
    this.ledger = new Ledger(directory, 'read');
    this.#copies = openCopies(this.ledger);
  }

  /** Those of the visits after `after` up to `upTo`, oldest first. */
  async *since(rule: Rule, after: number, upTo: number): AsyncGenerator<ChangeCandidate> {
    for (let from = after + 1; from <= upTo; from += SOME) {
      const before = Math.min(from + SOME, upTo + 1);
      yield* this.#among(rule, { from, before, limit: SOME });
    }
  }

  /** The last ones of its kinds, oldest first, to try a rule on. */
  async last(rule: Rule, most: number): Promise<ChangeCandidate[]> {
    const found: FoundChange[] = [];
    let before: number | undefined;
    // Changes of other kinds may lie between them.
    for (let read = 0; read < MOST_TRIED && found.length < most; read += SOME) {
      const slice = changesIn(this.ledger, { ...wantedBy(rule), limit: SOME, ...(before !== undefined && { before }) });
      found.push(...slice.filter(change => isOf(rule, change)));
      if (slice.length < SOME) break;
      before = slice.at(-1)!.id;
    }
    const weighed: ChangeCandidate[] = [];
    for (const change of found.slice(0, most).reverse()) weighed.push(await this.#weighed(rule, change));
    return weighed;
  }

  async *#among(rule: Rule, bounds: { from: number; before: number; limit: number }): AsyncGenerator<ChangeCandidate> {
    for (const change of changesIn(this.ledger, { ...wantedBy(rule), ...bounds }).reverse())
      if (isOf(rule, change)) yield await this.#weighed(rule, change);
  }

  async #weighed(rule: Rule, change: FoundChange): Promise<ChangeCandidate> {
    const visits = this.ledger.visits.of(change.page);
    const at = visits.findIndex(({ id }) => id === change.id);
    const stored = visits.slice(0, at).findLast(({ segment }) => segment !== null);
    const gone = change.kind === 'gone' || change.kind === 'moved';
    const before = await this.#version(change.url, stored);
    const after = await this.#version(change.url, gone ? undefined : visits[at]);
    const weighed = weigh(before, after, rule);
    // That a page went is told as such, whatever it held.
    const counts = gone ? { ...weighed, counts: true, why: change.means } : weighed;
    const numbers = versionNumbers(visits, stored, visits[at]);
    return {
      visit: change.id,
      weighed: counts,
      change: {
        ...{ url: change.url, title: change.title ?? '', kind: change.kind, time: new Date(change.time).toISOString() },
        ...{ why: counts.why, added: counts.added, removed: counts.removed, diff: gone ? '' : counts.diff },
        versions: numbers(change.url),
      },
    };
  }

  async #version(url: string, visit: VisitRow | undefined): Promise<WeighedVersion | undefined> {
    const stored = visit && (await this.#copies.of(visit));
    const type = stored?.headers.get('content-type') ?? '';
    if (!stored || !TEXTUAL.test(type)) return undefined;
    return { url, text: textOf(stored, MOST), html: HTML.test(type) };
  }

  close(): void {
    this.#copies.close();
    this.ledger.close();
  }
}

function wantedBy({ kinds, url }: Rule) {
  return { first: kinds.includes('new'), quiet: true, ...(url !== undefined && { pattern: url }) };
}

function isOf({ kinds }: Rule, { kind }: FoundChange): boolean {
  return (kinds as readonly string[]).includes(kind);
}

/** As `skein diff` counts versions. */
function versionNumbers(visits: readonly VisitRow[], before?: VisitRow, after?: VisitRow) {
  const stored = visits.filter(({ segment }) => segment !== null);
  const numberOf = (visit: VisitRow | undefined) => stored.findIndex(each => each.id === visit?.id) + 1;
  const [from, to] = [numberOf(before), numberOf(after)];
  return (url: string) => ({
    before: from > 0 ? `skein diff ${url} --from ${from}` : '',
    after: to > 0 ? `skein cat ${url}` : url,
  });
}
