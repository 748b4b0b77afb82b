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
import { type Ground, groundAt, has, isFirm, vary } from '../../judge/ground.ts';
import { type Saved, ServerKnowledge, type Verdict } from '../../judge/knowledge.ts';
import { holdFound, isNear, repeated, stands, wasGuessed } from '../../judge/looks.ts';
import {
  fits,
  follow,
  groundFor,
  heldBy,
  type Place,
  Places,
  remember,
  type SavedPlaces,
  stand,
} from '../../judge/places.ts';
import { review, type Seen, verdictOf } from '../../judge/review.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Audited } from '../../ledger/storage/inferred.ts';
import type { Progress } from '../progress.ts';
import type { Comparison } from './questions.ts';

/** What is to be done with a visit. */
export interface Settled {
  readonly visit: Visit;
  /** Its records go into the archive. */
  readonly stored: boolean;
  readonly brought: Pick<Brought, 'follows' | 'words'>;
  /** What it was compared by; absent where there was nothing to compare with. */
  readonly judged?: JudgedPage;
}

interface JudgedPage {
  readonly page: number;
  readonly server: number;
  readonly edits: readonly Edit[];
  /** Time of the look before. */
  readonly before: number;
  /** Milliseconds for which a second look would meet a cache. */
  readonly cached: number;
  readonly verdict: Verdict | 'same';
}

/** A visit of this round at which a page differed. */
export interface Provisional extends Seen {
  readonly learned: Learned;
  verdict: Verdict | 'same';
  /** It is news whatever becomes of its edits: something that was taken for noise has come to stay. */
  readonly stays: boolean;
  /** Before then a second look would meet a cache, milliseconds since 1970. */
  readonly from: number;
  /** Second looks that were chosen for it; `open`: one more may be. */
  looks: number;
  open: boolean;
  /** What differed between these looks, and the keys of the grounds that it lies in. */
  readonly found: Edit[];
  readonly varied: Set<number>;
}

/** A page that is looked at again, and the edits that its first look found in doubt. */
export interface Look {
  readonly first: Provisional;
  readonly edits: readonly Edit[];
}

/** Second looks that follow one visit: two more for each time that a value came back, because a look may meet the same again. */
const MOST_LOOKS = 6;

function looksAt({ returned }: Place): number {
  return returned === 0 ? 1 : Math.min(MOST_LOOKS, 1 + 2 * returned);
}

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
  /** By server: pages that were looked at in this round, and when, milliseconds since 1970. */
  readonly #visited = new Map<number, Map<number, number>>();
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
    const before = ledger.pages.known(page)?.seen_time ?? 0;
    if (own) this.#follow(page, edits);
    const verdict = own ? this.#verdictOn(page, server, { edits, before }) : 'news';
    const words = measured ? { words: found.words } : {};
    const judged: JudgedPage = { page, server, edits, before, cached: found.cached, verdict };
    if (verdict === 'news') {
      const stage = own && visit.stage !== 'image' ? stageOf(edits) : visit.stage;
      return { visit: { ...visit, ...(stage && { stage }) }, stored: true, brought: words, judged };
    }
    const same: Visit = { ...visit, outcome: 'same', reason: 'unchanged', stage: sameStage(verdict, visit) };
    const follows = { ...found.follows, edited: edits.length > 0 };
    return { visit: same, stored: !small, brought: small ? { ...words, follows } : words, judged };
  }

  /** Neighbours of what is known of a page may be others by now. */
  #follow(page: number, edits: readonly Edit[]): void {
    const places = this.placesOf(page);
    const keys = [...places.keys()].join();
    follow(places, edits);
    if ([...places.keys()].join() !== keys) this.#parts.ledger.servers.masks.putPage(page, places.save());
  }

  /** A look at a page whose copy was inferred: where it shows the old state, its folder is not as was thought. */
  #auditInferred({ url, outcome, status, stage }: Visit, found: Comparison | undefined): void {
    const { ledger, frontier } = this.#parts;
    const seen = outcome === 'same' || (outcome === 'fetched' && stage !== 'first');
    const row = seen ? ledger.storage.inferred.of(frontier.admission.find(url)) : undefined;
    if (!row) return;
    const wrong = found ? found.refuted : outcome === 'same' || status === 304;
    if (wrong) ledger.storage.inferred.removeFolder(row.folder);
    const { right, wrong: wrongs } = ledger.settings.get<Audited>('inferences') ?? { right: 0, wrong: 0 };
    ledger.settings.set('inferences', {
      right: right + (wrong ? 0 : 1),
      wrong: wrongs + (wrong ? 1 : 0),
    } satisfies Audited);
  }

  /** What is news is for the evidence to say, and not for a detector of the papers. */
  get #own(): boolean {
    return this.#parts.frontier.options.detector === 'content';
  }

  /** What a second look finds at the places it was for is noise: two looks a moment apart differ there. */
  #verdictOn(page: number, server: number, { edits, before }: Pick<Seen, 'edits' | 'before'>): Verdict | 'same' {
    const look = this.looks.get(page);
    const own = look ? edits.filter(edit => !this.#isAgain(page, look, edit)) : edits;
    if (own.length === 0) return edits.length === 0 ? 'same' : 'looks';
    const verdict = verdictOf(this.of(server), { edits: own, before }, this.placesOf(page));
    // What many pages have is told by first looks.
    return look && verdict === 'shared' ? 'looks' : verdict;
  }

  /** A look found again what it was for, or other things where they vary. */
  #isAgain(page: number, look: Look, edit: Edit): boolean {
    if (look.edits.some(first => repeated(first, [edit]))) return true;
    return isNear(edit, look.first.edits) || groundFor(this.placesOf(page), edit) !== undefined;
  }

  /** The visit was learned from. */
  learned({ judged }: Settled, learned: Learned | undefined): void {
    if (!learned || !this.#own) return; // what the papers' detectors call a change stays one
    this.#count(learned);
    const look = this.looks.get(learned.lesson.id);
    if (look) this.#looked(look, learned.lesson.visit, judged?.edits ?? []);
    const stays = !look && this.#standsStill(learned, judged);
    if (!judged || judged.edits.length === 0 || look) return;
    const { page, server, edits, before, verdict } = judged;
    const places = this.placesOf(page);
    const said = edits.map(edit => this.of(server).verdictOn(edit, places, before));
    remember(places, edits);
    // What was held is gone, though what stands beside it is another by now.
    for (const place of places.values()) if (edits.some(({ before }) => before === place.held)) place.held = 0;
    for (const [i, edit] of edits.entries()) {
      const place = places.get(edit.place);
      if (place && (verdict !== 'news' || said[i] !== 'news')) place.passed++;
      const taken = verdict === 'news' ? said[i]! : verdict;
      if (place) place.held = taken === 'looks' ? heldBy(place, edit, places.grounds) : 0;
    }
    this.#parts.ledger.servers.masks.putPage(page, places.save());
    if (++this.#remembered > MOST_REMEMBERED) return;
    const round = this.#round.get(server) ?? [];
    this.#round.set(server, round);
    const { time } = learned.lesson.visit;
    const from = time + judged.cached;
    const unlooked = { looks: 0, open: true, found: [], varied: new Set<number>() };
    round.push({ page, edits, time, before, learned, verdict, stays, from, ...unlooked });
  }

  #count({ lesson: { id, visit, lane } }: Learned): void {
    if (visit.outcome !== 'fetched' && visit.outcome !== 'same') return;
    const visited = this.#visited.get(lane.server.id) ?? new Map<number, number>();
    this.#visited.set(lane.server.id, visited.set(id, visit.time));
  }

  /**
   * What had been another at every look is now as it was at the last visit: what was taken for noise then has come to
   * stay, such as a notice in the place of an advertisement. That is news, one visit late.
   */
  #standsStill(learned: Learned, judged: JudgedPage | undefined): boolean {
    const { id, visit, lane } = learned.lesson;
    const seen = visit.outcome === 'same' || (visit.outcome === 'fetched' && judged !== undefined);
    if (!seen || this.of(lane.server.id).volatile === 0) return false;
    const places = this.placesOf(id);
    const edits = judged?.edits ?? [];
    const moving = new Set(edits.flatMap(({ spots }) => spots.map(spot => groundAt(places.grounds, spot))));
    // Where something else has moved, it may have stayed by chance.
    const byChance = ({ held, around: [before, behind] }: Place) =>
      places.grounds.some(ground => {
        const { list, items } = ground;
        if (!isFirm(ground)) return false;
        if (has(items, held)) return true;
        return moving.has(ground) && groundAt([ground], { list, before, behind, gone: [], come: [] }) !== undefined;
      });
    const still = [...places].filter(
      ([key, place]) =>
        place.held !== 0 &&
        !edits.some(({ place: its, before }) => its === key || before === place.held) &&
        !byChance(place),
    );
    if (still.length === 0) return false;
    for (const [, place] of still) Object.assign(place, { held: 0, agreed: place.agreed + 1 });
    const { ledger, frontier } = this.#parts;
    ledger.servers.masks.putPage(id, places.save());
    if (visit.outcome === 'fetched') return true; // it is told already
    frontier.learning.relabel(learned, 'text', true);
    this.#progress.told();
    return true;
  }

  /** A second look came back: what differs again was noise at the first. */
  #looked({ first, edits }: Look, visit: Visit, found: readonly Edit[]): void {
    const { page } = first;
    this.looks.delete(page);
    if (visit.outcome !== 'fetched' && visit.outcome !== 'same') return; // nobody saw it: nothing is known
    const places = this.placesOf(page);
    const knowledge = this.of(first.learned.lesson.lane.server.id);
    let noise = true;
    for (const { key } of vary(places.grounds, found)) first.varied.add(key);
    const usable = (ground: Ground) => first.varied.has(ground.key) || isFirm(ground);
    const still = new Set<Ground>();
    first.found.push(...found);
    // Words of a block that stays are no list of which some may stay by chance.
    const lists = found.filter(({ within }) => !within);
    for (const edit of edits) {
      const place = places.get(edit.place);
      const later = repeated(edit, found);
      const earlier = later ? undefined : repeated(edit, first.found);
      // A look before has shown it already; that it stands now says nothing more.
      if (earlier && !stands(edit, earlier) && fits(earlier, edit)) continue;
      const ground = edit.spots.map(spot => groundAt(places.grounds, spot)).find(each => each !== undefined);
      if (ground && !first.varied.has(ground.key)) still.add(ground);
      const again = later && stands(edit, later) ? undefined : later;
      const moves = groundFor(places, edit, usable)?.unseen === false;
      if (!moves && (!again || !fits(again, edit))) noise = false;
      if (!again && moves) {
        knowledge.volatile++;
        continue;
      }
      // Some of what varies stays from one look to the next by chance.
      if (!again && first.looks < MOST_LOOKS && (isNear(edit, lists) || (ground && usable(ground)))) {
        first.open = true;
        continue;
      }
      if (later && !again) this.#varies(page, knowledge, places, later);
      if (!place) continue;
      knowledge.looked(page, edit, place, again);
      // It was taken for noise: one look that agrees is enough to see it as news again, unless its values come back.
      if (!again && first.verdict !== 'news' && place.returned === 0) place.differed = 0;
      // One of a few values may be met twice by chance.
      if (!again && first.looks < looksAt(place)) first.open = true;
      if (again) place.values.push(again.after);
      if (again) stand(place, again);
    }
    for (const ground of still) ground.agreed++;
    for (const place of places.values()) if (found.some(({ before }) => before === place.held)) place.held = 0;
    const beside = found.filter(edit => !edits.some(each => repeated(each, [edit])));
    for (const edit of beside) if (knowledge.verdictOn(edit, places, first.before) === 'news') holdFound(places, edit);
    this.#parts.ledger.servers.masks.putPage(page, places.save());
    if (!noise && !first.open && edits.some(edit => !repeated(edit, first.found) && wasGuessed(edit, places)))
      this.#tell(first);
    const said = first.edits.map(edit => knowledge.verdictOn(edit, places, first.before));
    const open = first.edits.filter((_, i) => said[i] === 'news');
    if (open.length === 0 || (noise && open.every(edit => edits.includes(edit))))
      this.#relabel(first, open.length === 0 && said.includes('shared') ? 'shared' : 'looks');
  }

  /** Between two looks something differed at a place of which the first look had said nothing by itself. */
  #varies(page: number, knowledge: ServerKnowledge, places: Places, edit: Edit): void {
    if (!places.has(edit.place)) remember(places, [edit]);
    const place = places.get(edit.place);
    if (place) knowledge.looked(page, edit, place, edit);
  }

  /** It was taken for noise because one look had differed there before, and now it stands. */
  #tell(of: Provisional): void {
    if (of.verdict === 'news') return;
    of.verdict = 'news';
    this.#parts.frontier.learning.relabel(of.learned, 'text', true);
    this.#progress.told();
  }

  #relabel(of: Provisional, verdict: Verdict): void {
    if (of.verdict !== 'news' || of.stays) return;
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
    for (const visited of this.#visited.values())
      for (const [page, last] of visited) if (last < time) visited.delete(page);
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
      const visited = this.#visited.get(server) ?? new Map<number, number>();
      const { pages } = round[0]!.learned.lesson.lane;
      const counts = { pages, visited: visited.size, has: (page: number) => visited.has(page) };
      const common = review(knowledge, round, counts);
      for (const each of round) {
        if (each.verdict !== 'news') continue;
        const verdict = verdictOf(knowledge, each, this.placesOf(each.page), common);
        if (verdict !== 'news' && verdict !== 'same') this.#relabel(each, verdict);
      }
      ledger.servers.masks.putServer(server, knowledge.save());
    }
  }

  of(server: number): ServerKnowledge {
    let knowledge = this.#servers.get(server);
    if (!knowledge) {
      knowledge = new ServerKnowledge(this.#parts.ledger.servers.masks.ofServer<Saved>(server));
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
    ledger.servers.masks.putServer(server, knowledge.save());
    return lifted;
  }

  placesOf(page: number): Places {
    return new Places(this.#parts.ledger.servers.masks.ofPage<SavedPlaces>(page));
  }
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
