/**
 * What changed across the collection: pages that changed, went, moved or came back, newest first, and how many of them
 * by day and server. One rule for the command line and the workbench; what a visit is to a reader depends on the one
 * before it, so that "gone" and "still gone" are told apart.
 */
import { meaningOf } from '../../errand/reasons.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { roles } from '../../ledger/pages/pages.ts';
import type { NewsRow, NewsWanted } from '../../ledger/queries/news.ts';

export interface FoundChange {
  /** The visit that saw it. */
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly url: string;
  readonly server: number;
  readonly title: string | null;
  /** back: a page that had been gone; template: it is the same but for an edit that many pages share. */
  readonly kind: 'changed' | 'new' | 'gone' | 'moved' | 'back' | 'template';
  readonly reason: string;
  readonly means: string;
  /** The stage of the detector that saw it. */
  readonly stage: string | null;
  /** Of a change of structure: the levels of the tree (root 1) on which the number of elements is another. */
  readonly levels?: readonly number[];
  /** Share of the words of both versions that differ, 0–1; null where none were counted. */
  readonly amount: number | null;
  /** Words that went and came. */
  readonly removed: number | null;
  readonly added: number | null;
  /** Of an image: some of the pages that show it. */
  readonly shownBy?: readonly string[];
}

export type ChangesWanted = NewsWanted;

/** Pages named of those that show a changed image, and pages looked through for them from the first that did. */
const SHOWN_BY = 3;
const NEAR = 2000;
const IMAGE = roles.indexOf('image');

export function changesIn(ledger: Ledger, wanted: ChangesWanted): FoundChange[] {
  return ledger.queries.news.list(wanted).map(row => changeOf(ledger, row));
}

function changeOf(ledger: Ledger, { outcome, role, earlier, ...row }: NewsRow): FoundChange {
  const levels = row.stage === 'structure' ? ledger.visits.levels(row.id) : undefined;
  return {
    ...row,
    kind: kindOf(outcome, row.stage, earlier),
    means: meaningOf(row.reason),
    ...(levels && { levels }),
    ...(role === IMAGE && { shownBy: shownBy(ledger, row.page) }),
  };
}

function shownBy({ links, pages }: Ledger, image: number): string[] {
  const after = Math.max(0, (pages.get(image)?.parent ?? 0) - 1);
  const found = links.in(image, { after, upTo: after + NEAR, most: SHOWN_BY });
  return found.map(({ source }) => pages.get(source)?.url ?? '');
}

function kindOf(outcome: string, stage: string | null, earlier: string | null): FoundChange['kind'] {
  if (outcome === 'gone' || outcome === 'moved') return outcome;
  if (earlier === 'gone') return 'back';
  if (stage === 'template') return 'template';
  return earlier === null ? 'new' : 'changed';
}

/** What a run brought, as `changes` would list it, and the looks that no budget of pages pays for. */
export interface Tally {
  /** Pages that changed, went, moved or came back; images that changed; pages that were seen for the first time. */
  readonly changed: number;
  readonly newlyGone: number;
  readonly newlyMoved: number;
  readonly back: number;
  readonly images: number;
  readonly new: number;
  /** Looks at dead links, redirects and second addresses, and at sitemaps. */
  readonly aside: number;
  readonly sitemaps: number;
}

/** Of the visits from `from` on. */
export function tallyOf(ledger: Ledger, from: number): Tally {
  const rows = ledger.queries.news.counts(from);
  const sum = (role: number, kind: FoundChange['kind']) =>
    rows
      .filter(row => row.role === role && kindOf(row.outcome, row.stage, row.earlier) === kind)
      .reduce((total, { n }) => total + n, 0);
  return {
    changed: sum(0, 'changed'),
    newlyGone: sum(0, 'gone'),
    newlyMoved: sum(0, 'moved'),
    back: sum(0, 'back'),
    images: sum(IMAGE, 'changed'),
    new: sum(0, 'new'),
    ...ledger.queries.news.looksAside(from),
  };
}
