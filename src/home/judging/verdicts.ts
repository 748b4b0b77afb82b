/**
 * News or noise: what becomes of a page that came and differs from its stored copy. What is known of the noise of its
 * server decides (src/judge/); without evidence it is news and stored as a new version. What is no news becomes the copy
 * that people read, and nothing else.
 *
 * At the end of a round the edits of all its pages are looked at together, and visits that were taken for news may turn
 * out to be noise or edits that many pages share. Until then they count as news: a crash loses none.
 */
import type { Clock } from '../../base/clock.ts';
import type { Stage, Visit } from '../../errand/visit.ts';
import type { Brought } from '../../frontier/brought.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Learned } from '../../frontier/learning.ts';
import type { Edit } from '../../judge/edits.ts';
import {
  fits,
  type Place,
  type Places,
  remember,
  type Saved,
  ServerKnowledge,
  type Verdict,
} from '../../judge/knowledge.ts';
import { review, verdictOf } from '../../judge/review.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Audited } from '../../ledger/pages/inferred.ts';
import type { Progress } from '../progress.ts';
import type { Comparison } from './judging.ts';

/** What is to be done with a visit. */
export interface Settled {
  readonly visit: Visit;
  /** Its records go into the archive. */
  readonly stored: boolean;
  readonly brought: Pick<Brought, 'follows' | 'words'>;
  /** What it was compared by; absent where there was nothing to compare with. */
  readonly judged?: Judged;
}

interface Judged {
  readonly page: number;
  readonly server: number;
  readonly edits: readonly Edit[];
  readonly verdict: Verdict | 'same';
}

/** A visit of this round at which a page differed. */
export interface Provisional {
  readonly page: number;
  readonly edits: readonly Edit[];
  readonly learned: Learned;
  verdict: Verdict | 'same';
  /** Second looks that were chosen for it; `open`: one more may be. */
  looks: number;
  open: boolean;
}

/** A page that is looked at again, and the edits that its first look found in doubt. */
export interface Look {
  readonly first: Provisional;
  readonly edits: readonly Edit[];
}

/** Second looks that follow one visit. */
const MOST_LOOKS = 2;
/** Visits of one round that are remembered for its end; those beyond are news, or noise, as they seemed to be. */
const MOST_REMEMBERED = 200_000;

interface VerdictParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
}

export class Verdicts {
  readonly #parts: VerdictParts;
  readonly #progress: Progress;
  readonly #servers = new Map<number, ServerKnowledge>();
  readonly #round = new Map<number, Provisional[]>();
  /** Second looks under way, by page. */
  readonly looks = new Map<number, Look>();
  #remembered = 0;

  constructor(parts: VerdictParts, progress: Progress) {
    this.#parts = parts;
    this.#progress = progress;
  }

  settle(visit: Visit, found: Comparison | undefined): Settled {
    this.#auditInferred(visit, found);
    if (!found) return { visit, stored: visit.record !== undefined && visit.stage !== 'stamp', brought: {} };
    const { ledger, frontier } = this.#parts;
    const page = frontier.admission.find(visit.url);
    const server = ledger.pages.get(page)!.server;
    const { edits, small, measured } = found;
    const own = this.#own;
    const verdict = own ? this.#verdictOn(page, server, edits) : 'news';
    const words = measured ? { words: found.words } : {};
    const judged: Judged = { page, server, edits, verdict };
    if (verdict === 'news') {
      const stage = own && visit.stage !== 'image' ? stageOf(edits) : visit.stage;
      return { visit: { ...visit, ...(stage && { stage }) }, stored: true, brought: words, judged };
    }
    const same: Visit = { ...visit, outcome: 'same', reason: 'unchanged', stage: sameStage(verdict, visit) };
    const follows = { ...found.follows, edited: edits.length > 0 };
    return { visit: same, stored: !small, brought: small ? { ...words, follows } : words, judged };
  }

  /** A look at a page whose copy was inferred: where it shows the old state, its folder is not as was thought. */
  #auditInferred({ url, outcome, status }: Visit, found: Comparison | undefined): void {
    const { ledger, frontier } = this.#parts;
    const row =
      outcome === 'same' || outcome === 'fetched' ? ledger.inferred.of(frontier.admission.find(url)) : undefined;
    if (!row) return;
    const wrong = found ? found.refuted : outcome === 'same' || status === 304;
    if (wrong) ledger.inferred.removeFolder(row.folder);
    const { right, wrong: wrongs } = ledger.setting<Audited>('inferences') ?? { right: 0, wrong: 0 };
    ledger.set('inferences', { right: right + (wrong ? 0 : 1), wrong: wrongs + (wrong ? 1 : 0) } satisfies Audited);
  }

  /** What is news is for the evidence to say, and not for a detector of the papers. */
  get #own(): boolean {
    return this.#parts.frontier.options.detector === 'content';
  }

  /** What a second look finds at the places it was for is noise: two looks a moment apart differ there. */
  #verdictOn(page: number, server: number, edits: readonly Edit[]): Verdict | 'same' {
    const look = this.looks.get(page);
    const own = look ? edits.filter(edit => !look.edits.some(first => repeats(first, edit))) : edits;
    if (own.length === 0) return edits.length === 0 ? 'same' : 'looks';
    return verdictOf(this.of(server), own, this.placesOf(page));
  }

  /** The visit was learned from. */
  learned({ judged }: Settled, learned: Learned | undefined): void {
    if (!learned || !this.#own) return; // what the papers' detectors call a change stays one
    const look = this.looks.get(learned.lesson.id);
    if (look) this.#looked(look, learned.lesson.visit, judged?.edits ?? []);
    else this.#standsStill(learned, judged);
    if (!judged || judged.edits.length === 0 || look) return;
    const { page, server, edits, verdict } = judged;
    const places = this.placesOf(page);
    const said = edits.map(edit => this.of(server).verdictOn(edit, places));
    remember(places, edits);
    // What was held is gone, though what stands beside it is another by now.
    for (const place of places.values()) if (edits.some(({ before }) => before === place.held)) place.held = 0;
    for (const [i, edit] of edits.entries()) {
      const place = places.get(edit.place);
      if (place && verdict !== 'news') place.passed++;
      if (place) hold(place, edit, verdict === 'news' ? said[i]! : verdict);
    }
    this.#parts.ledger.masks.putPage(page, [...places]);
    if (++this.#remembered > MOST_REMEMBERED) return;
    const round = this.#round.get(server) ?? [];
    this.#round.set(server, round);
    round.push({ page, edits, learned, verdict, looks: 0, open: true });
  }

  /**
   * What had been another at every look is now as it was at the last visit: what was taken for noise then has come to
   * stay, such as a notice in the place of an advertisement. That is news, one visit late.
   */
  #standsStill(learned: Learned, judged: Judged | undefined): void {
    const { id, visit, lane } = learned.lesson;
    if (visit.outcome !== 'same' || this.of(lane.server.id).volatile === 0) return;
    const places = this.placesOf(id);
    const still = [...places].filter(
      ([key, { held }]) => held !== 0 && !judged?.edits.some(({ place, before }) => place === key || before === held),
    );
    if (still.length === 0) return;
    for (const [, place] of still) Object.assign(place, { held: 0, agreed: place.agreed + 1 });
    const { ledger, frontier } = this.#parts;
    ledger.masks.putPage(id, [...places]);
    frontier.learning.relabel(learned, 'text', true);
    this.#progress.told();
  }

  /** A second look came back: what differs again was noise at the first. */
  #looked({ first, edits }: Look, visit: Visit, found: readonly Edit[]): void {
    const { page } = first;
    this.looks.delete(page);
    if (visit.outcome !== 'fetched' && visit.outcome !== 'same') return; // nobody saw it: nothing is known
    const places = this.placesOf(page);
    const knowledge = this.of(first.learned.lesson.lane.server.id);
    let noise = true;
    for (const edit of edits) {
      const place = places.get(edit.place);
      const again = found.find(each => repeats(edit, each));
      if (!again || !fits(again, edit)) noise = false;
      if (!place) continue;
      knowledge.looked(page, edit, place, again);
      // It was taken for noise: one look that agrees is enough to see it as news again, unless its values come back.
      if (!again && first.verdict !== 'news' && place.returned === 0) place.differed = 0;
      // One of a few values may be met twice by chance.
      if (!again && place.returned > 0 && first.looks < MOST_LOOKS) first.open = true;
      if (again) place.values.push(again.after);
    }
    this.#parts.ledger.masks.putPage(page, [...places]);
    const open = first.edits.filter(edit => knowledge.verdictOn(edit, places) === 'news');
    if (noise && open.every(edit => edits.includes(edit))) this.#relabel(first, 'looks');
  }

  #relabel(of: Provisional, verdict: Verdict): void {
    if (of.verdict !== 'news') return;
    of.verdict = verdict;
    this.#parts.frontier.learning.relabel(of.learned, verdict === 'shared' ? 'template' : 'noise');
    this.#progress.relabelled();
  }

  /** Visits of the round for which a second look may be chosen. */
  unlooked(): Provisional[] {
    return [...this.#round.values()].flat().filter(({ open }) => open);
  }

  /** Visits before then are what they are taken for. */
  forget(time: number): void {
    for (const [server, round] of this.#round) {
      const kept = round.filter(({ learned }) => learned.lesson.visit.time >= time);
      this.#remembered -= round.length - kept.length;
      if (kept.length > 0) this.#round.set(server, kept);
      else this.#round.delete(server);
    }
  }

  /** Looks at all edits of the round together. Opens a transaction unless one is open. */
  review(): void {
    const { ledger } = this.#parts;
    ledger.begin();
    for (const [server, round] of this.#round) {
      const knowledge = this.of(server);
      const common = review(knowledge, round, round[0]!.learned.lesson.lane.pages);
      for (const each of round) {
        if (each.verdict !== 'news') continue;
        const verdict = verdictOf(knowledge, each.edits, this.placesOf(each.page), common);
        if (verdict !== 'news' && verdict !== 'same') this.#relabel(each, verdict);
      }
      ledger.masks.putServer(server, knowledge.save());
    }
  }

  of(server: number): ServerKnowledge {
    let knowledge = this.#servers.get(server);
    if (!knowledge) {
      knowledge = new ServerKnowledge(this.#parts.ledger.masks.ofServer<Saved>(server));
      this.#servers.set(server, knowledge);
    }
    return knowledge;
  }

  /** Lifts the masks of a page and of its server; returns how many. */
  unmask(page: number): number {
    const { ledger } = this.#parts;
    const server = ledger.pages.get(page)!.server;
    const knowledge = this.of(server);
    const lifted = knowledge.lift(this.placesOf(page));
    ledger.masks.putServer(server, knowledge.save());
    return lifted;
  }

  placesOf(page: number): Places {
    return new Map(this.#parts.ledger.masks.ofPage<[]>(page));
  }
}

/** What was taken for noise, if only of its page's edits. Words in a block that stays are no notice that has come to stay. */
function hold(place: Place, { after, within }: Edit, verdict: Verdict | 'same'): void {
  place.held = verdict === 'looks' && !within && place.returned === 0 ? after : 0;
}

/** Whether a later look shows that what an edit brought is there no more. */
function repeats(first: Edit, later: Edit): boolean {
  if (first.list !== later.list) return false;
  return first.place === later.place || (first.after !== 0 && first.after === later.before);
}

function sameStage(verdict: Verdict | 'same', { stage }: Visit): Stage {
  if (verdict === 'same') return stage === 'stamp' ? 'stamp' : 'content';
  return verdict === 'shared' ? 'template' : 'noise';
}

/** What a reader would name first. */
function stageOf(edits: readonly Edit[]): Stage {
  if (edits.some(({ list }) => list === 'text')) return 'text';
  const references = edits.filter(({ list }) => list === 'reference');
  if (references.length === 0) return 'structure';
  return references.every(({ picture }) => picture) ? 'image' : 'links';
}
