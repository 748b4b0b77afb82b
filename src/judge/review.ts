/**
 * What the edits of many pages of a server say when they are seen together, at the end of a round: which tokens swing,
 * which are others on every page, which edits many pages share. Visits that were taken for news are then judged once more.
 */
import type { Edit } from './edits.ts';
import { hashAll } from './hash.ts';
import { LEAST_AGAIN, type ServerKnowledge, type Swing, type Verdict } from './knowledge.ts';
import { turnKey } from './pairs.ts';
import { Places, placedOf, signaturesOf } from './places.ts';
import type { Names } from './stems.ts';
import type { TokenTurn } from './turns.ts';

/** A page on which something differed in this round. */
export interface Seen {
  readonly page: number;
  readonly edits: readonly Edit[];
  /** Of this look and the one before, milliseconds since 1970. */
  readonly time: number;
  readonly before: number;
}

/** What makes an edit one of the server. */
export interface Shares {
  /** Pages, and share of its pages, on which a server must show an edit. */
  readonly leastPages: number;
  readonly leastShare: number;
}

export const shares: Shares = { leastPages: 5, leastShare: 0.01 };

/** What the pages of a round have in common: counts that reached what makes an edit one of the server. */
interface CommonEdits {
  /** Edits with what stands beside them. */
  readonly edits: ReadonlySet<number>;
  /** What became what, wherever it stands, on twice as many pages. */
  readonly values: ReadonlySet<number>;
  /** Two edits of one stretch. */
  readonly pairs: ReadonlySet<number>;
  /** All edits of a page, with their places. */
  readonly pages: ReadonlySet<number>;
}

/** Pages of a server: all, and those that were looked at in the round, changed or not; `has`: whether one was, each if it is left out. */
interface PageCounts {
  readonly pages: number;
  readonly visited: number;
  readonly has?: (page: number) => boolean;
}

/** Learns from a round. */
export function review(
  knowledge: ServerKnowledge,
  all: readonly Seen[],
  { pages, visited, has = () => true }: PageCounts,
  { leastPages, leastShare }: Shares = shares,
): CommonEdits {
  const turns = turnsIn(all);
  const few = fewValues(turns);
  for (const turn of turnsBothWays(
    turns.filter(({ around }) => few(around)),
    visited,
  ))
    knowledge.swing(turn);
  const isOfMachines = ({ names, around }: TokenTurn) => names !== 'alone' && around.slice(0, -1).some(few);
  for (const { page, edits } of all) for (const edit of edits) knowledge.turned(page, edit, isOfMachines);
  knowledge.variesEverywhere(everywhereIn(knowledge, all, { pages, visited, has }));
  knowledge.turnsOnMany(turnsOnMany(turns, Math.max(leastPages, leastShare * pages)));
  const round = oneWay(all);
  const often = (keys: (edits: readonly Edit[]) => number[], times = 1) => {
    const counts = new Map<number, number>();
    for (const { edits } of round) for (const key of new Set(keys(edits))) counts.set(key, (counts.get(key) ?? 0) + 1);
    return new Map([...counts].filter(([, count]) => count >= times * Math.max(leastPages, leastShare * pages)));
  };
  // The same tags are put in for many reasons: they are shared only with all else that differs.
  const placed = often(edits => edits.filter(({ list }) => list !== 'tags').map(placedOf));
  for (const { edits } of round) {
    for (const edit of edits) if (placed.has(placedOf(edit))) knowledge.told.set(placedOf(edit), edit.told);
  }
  const last = round.reduce((latest, { time }) => Math.max(latest, time), 0);
  for (const key of placed.keys()) {
    knowledge.shared.delete(key);
    knowledge.shared.set(key, last);
  }
  const beside = often(edits => edits.flatMap(signaturesOf));
  const replaced = (edits: readonly Edit[]) => edits.filter(({ list, whole }) => list !== 'tags' && !whole.includes(0));
  const wholes = often(edits => replaced(edits).map(({ whole }) => hashAll(whole)), 0);
  const values = often(edits => replaced(edits).map(({ whole }) => hashAll(whole)), 2);
  // Pages of any length have something at the same distance from an end: that is a place only where most have it there.
  for (const edit of round.flatMap(({ edits }) => replaced(edits))) {
    for (const far of signaturesOf(edit).slice(2))
      if (2 * (beside.get(far) ?? 0) < wholes.get(hashAll(edit.whole))!) beside.delete(far);
  }
  const whole = often(edits => [wholeOf(edits)]);
  const pairs = often(edits => replaced(edits).flatMap(edit => besideLong(edit, edits)));
  return {
    edits: new Set(beside.keys()),
    values: new Set(values.keys()),
    pairs: new Set(pairs.keys()),
    pages: new Set(whole.keys()),
  };
}

/** The edit with each long one of its stretch. */
function besideLong({ whole, around }: Edit, edits: readonly Edit[]): number[] {
  const side = edits.filter(({ long, around: its }) => long.every(each => each) && its.join() === around.join());
  return side.map(other => hashAll([...whole, ...other.whole]));
}

function wholeOf(edits: readonly Edit[]): number {
  return hashAll(edits.map(placedOf));
}

/** Without what goes one way on some pages and the other way on others: whatever that is, it is no edit of them all. */
function oneWay(round: readonly Seen[]): Seen[] {
  const ways = new Map<number, number>();
  for (const { edits } of round)
    for (const key of new Set(edits.map(({ whole }) => hashAll(whole)))) ways.set(key, (ways.get(key) ?? 0) + 1);
  const back = ({ whole: [before, after] }: Edit) => {
    const there = ways.get(hashAll([before, after]))!;
    return (ways.get(hashAll([after, before])) ?? 0) >= Math.max(EACH_WAY, WAY_BACK * there);
  };
  return round.map(seen => ({ ...seen, edits: seen.edits.filter(edit => edit.list === 'tags' || !back(edit)) }));
}

/** Pages that go the other way, and share of those that go this way: machines answer as many pages anew as they leave. */
const EACH_WAY = 2;
const WAY_BACK = 0.25;

/** Pages, and share of those looked at, on which a token must be another at the same time; and share of them with their own one. */
const LEAST_EVERYWHERE = 10;
const SHARE_EVERYWHERE = 0.15;
const DISTINCT = 0.8;
/** Of these the share that look like tokens: by chance some do not. */
const MADE = 0.5;
/** Share of the pages looked at on which it is so the first time. */
const AT_ONCE = 0.5;

/** A token that became another, as it is known by what stands around it. */
interface Turned {
  readonly page: number;
  readonly around: number;
  readonly before: number;
  readonly after: number;
  /** Only tokens differ in its reference. */
  readonly made: boolean;
  readonly spoken: boolean;
  readonly names: Names;
  readonly picture: boolean;
  readonly turn: TokenTurn;
  readonly told: string;
}

/** Each once for a page and what stands around it. `signs`: also by the two signs beside it, where the token itself says the rest. */
function turnsIn(round: readonly Seen[], signs = true): Turned[] {
  return round.flatMap(({ page, edits }) => {
    const all = edits.flatMap(({ turns, stem, picture, told }) =>
      turns.flatMap(turn => {
        const { around, before, after, spoken, names } = turn;
        // Two signs beside it say enough of a token, and nothing of a word.
        return around.slice(0, stem === 0 || !signs ? -1 : around.length).map(key => {
          return { page, around: key, before, after, made: stem !== 0, spoken, names, picture, turn, told };
        });
      }),
    );
    return [...new Map(all.map(turn => [`${turn.around} ${turn.before} ${turn.after}`, turn])).values()];
  });
}

function grouped<K, T>(all: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group) group.push(each);
    else groups.set(keyOf(each), [each]);
  }
  return groups;
}

/**
 * What stands around tokens that became others on many pages at the same time, on each its own: nobody writes so many anew at once.
 * Most pages that were looked at are evidence by themselves; fewer are where it is the same pages again. Videos of their own that
 * one page in five has anew each day are other pages each day.
 */
function everywhereIn(knowledge: ServerKnowledge, round: readonly Seen[], { visited, has }: Required<PageCounts>) {
  const start = round.reduce((first, { time }) => Math.min(first, time), Number.POSITIVE_INFINITY);
  const found = new Map<number, string>();
  let differing: ReadonlySet<number> | undefined;
  const all = turnsIn(round, false);
  const frames = grouped(
    all.filter(({ around, turn }) => around === turn.around[0]),
    ({ around }) => around,
  );
  // Where many pages have the same but for the token, each its own, it is the token that names what each of them refers to; a
  // signature or a session names nothing.
  const isName = ({ names, turn }: Turned) => {
    if (turn.signed) return false;
    return names === 'alone' || (names === 'beside' && (frames.get(turn.around[0]!)?.length ?? 0) >= LEAST_AGAIN);
  };
  const varying = all.filter(turn => turn.picture || !isName(turn));
  for (const [around, turns] of grouped(varying, each => each.around)) {
    const pages = new Set(turns.map(({ page }) => page));
    if (pages.size < LEAST_AGAIN) continue;
    const made = new Set(turns.filter(turn => turn.made).map(({ page }) => page)).size;
    const own = new Set(turns.map(({ after }) => after)).size;
    if (made < MADE * pages.size || own < DISTINCT * pages.size) continue;
    differing ??= withOpenReferences(knowledge, round);
    const again = knowledge.together(around, { pages, differing, start, has });
    if (pages.size < Math.max(LEAST_EVERYWHERE, SHARE_EVERYWHERE * visited)) continue;
    if (again ?? pages.size >= AT_ONCE * visited) found.set(around, turns[0]!.told);
  }
  return found;
}

/** Pages on which a reference is another for no reason that is known: some tokens leave other surroundings each time. */
function withOpenReferences(knowledge: ServerKnowledge, round: readonly Seen[]): Set<number> {
  const nothing = new Places();
  const open = ({ edits }: Seen) =>
    edits.some(edit => {
      return edit.list === 'reference' && ['news', 'everywhere'].includes(knowledge.verdictOn(edit, nothing));
    });
  return new Set(round.filter(open).map(({ page }) => page));
}

/** The same token became the same other one on so many pages, in references of their own. */
function turnsOnMany(turns: readonly Turned[], least: number): Set<number> {
  const made = grouped(
    turns.filter(turn => turn.made),
    turnKey,
  );
  const back = ({ around, before, after }: Turned) => made.get(turnKey({ around, before: after, after: before })) ?? [];
  const isOneWay = (turns: readonly Turned[]) => back(turns[0]!).length < Math.max(EACH_WAY, WAY_BACK * turns.length);
  const shared = [...made].filter(([, turns]) => turns.length >= least && isOneWay(turns));
  return new Set(shared.map(([key]) => key));
}

/** Whether no more values take turns between the same surroundings on all pages than there are machines behind one name. */
function fewValues(turns: readonly Turned[]): (around: number) => boolean {
  const values = new Map(
    [...grouped(turns, ({ around }) => around)].map(([around, some]) => {
      return [around, new Set(some.flatMap(({ before, after }) => [before, after])).size];
    }),
  );
  return around => values.get(around)! <= MOST_MACHINES;
}

/** Pages on which a token must have turned each way; the same of what is no token, or names something alone. */
const TOKEN_EACH_WAY = 3;
const WORD_EACH_WAY = 8;
/** Of what is no token: share of the pages looked at. */
const SHARE_EACH_WAY = 0.08;
/** Values that tokens of machines have at one place of all pages, at most. */
const MOST_MACHINES = 4;

/**
 * What one page has replaced by another, and as many other pages the other way round: machines behind one name. Words that a
 * person writes are "open" and "closed", too: of these only second looks can tell. A token that alone names a video or a file says what
 * it is: pages may exchange theirs, if not as many as have a word in its place.
 */
function turnsBothWays(turns: readonly Turned[], visited: number): Swing[] {
  const ways = grouped(turns, turnKey);
  return [...ways.values()].flatMap(some => {
    const { around, before, after, made, spoken, names, told } = some[0]!;
    if (spoken) return [];
    const back = ways.get(turnKey({ around, before: after, after: before }));
    const words = Math.max(WORD_EACH_WAY, SHARE_EACH_WAY * visited);
    const least = !made ? words : names === 'alone' ? WORD_EACH_WAY : TOKEN_EACH_WAY;
    if (some.length < least || (back?.length ?? 0) < least) return [];
    return [{ before: hashAll([around, before]), after: hashAll([around, after]), told }];
  });
}

/** What a page's edits are together: news if one of them is, else shared if one of them is, else noise, by its evidence. */
export function verdictOf(
  knowledge: ServerKnowledge,
  { edits, before }: Pick<Seen, 'edits' | 'before'>,
  places: Places,
  common: CommonEdits = nothing,
): Verdict | 'same' {
  if (edits.length === 0) return 'same';
  const said = edits.map(edit => knowledge.verdictOn(edit, places, before));
  const left = edits.filter((_, i) => said[i] === 'news');
  // How it is marked up goes with what it says.
  const besides = edits.some(({ list }, i) => list !== 'tags' && said[i] === 'shared');
  const onlyTags = left.every(({ list }) => list === 'tags') && said.includes('shared');
  if (left.length > 0) return onlyTags || isCommon(left, common, besides) ? 'shared' : 'news';
  return said.find(verdict => verdict === 'shared') ?? said[0]!;
}

const nothing: CommonEdits = { edits: new Set(), values: new Set(), pairs: new Set(), pages: new Set() };

/**
 * Whether what is left when noise is taken out is an edit of the server: all of it, as it stands, is on many pages; or each
 * block of text is, and each reference beside them. How it is marked up goes with what it says.
 */
function isCommon(edits: readonly Edit[], common: CommonEdits, besides: boolean): boolean {
  if (common.pages.has(wholeOf(edits))) return true;
  const telling = edits.filter(({ list }) => list !== 'tags');
  const inPlace = (edit: Edit) => signaturesOf(edit).some(each => common.edits.has(each));
  // The rest of an edit that many pages have may stand elsewhere on some of them, behind a line that they alone have.
  const anywhere = besides || telling.some(inPlace);
  const text = besides || telling.some(({ list }) => list === 'text');
  const values = telling.filter(({ whole }) => anywhere && common.values.has(hashAll(whole)));
  // Few words say little by themselves, but as much as the long ones with which they changed, side by side, on other pages, too.
  const together = (edit: Edit) => besideLong(edit, values).some(pair => common.pairs.has(pair));
  return text && telling.every(edit => inPlace(edit) || (values.includes(edit) && together(edit)));
}
