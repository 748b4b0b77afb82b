/**
 * The shortest way from one list of words (or lines) to another, by Myers' greedy algorithm. It takes time and memory
 * in proportion to the square of the number of differences, so it gives up beyond a bound and calls the middle part
 * replaced: right, though not the shortest.
 */
export interface EditRun<T = string> {
  readonly kind: 'same' | 'removed' | 'added';
  /** Of `before` for same and removed, of `after` for added. */
  readonly items: readonly T[];
}

/** A stretch that was replaced: [start, end) in each list; one of the two may be empty. */
export interface Hunk {
  readonly before: readonly [start: number, end: number];
  readonly after: readonly [start: number, end: number];
}

const MOST_DIFFERENCES = 1500;

/** Runs in order; what was removed in one place comes before what was added there. */
export function difference<T extends string | number>(
  before: readonly T[],
  after: readonly T[],
  most = MOST_DIFFERENCES,
): EditRun<T>[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const runs = new EditRuns<T>();
  runs.add('same', before.slice(0, start));
  const from = before.slice(start, before.length - end);
  const to = after.slice(start, after.length - end);
  const trace = from.length > 0 && to.length > 0 ? search(from, to, most) : undefined;
  if (trace) walk(trace, from, to, runs);
  else {
    runs.add('removed', from);
    runs.add('added', to);
  }
  runs.add('same', before.slice(before.length - end));
  return runs.list;
}

/** What differs, in order, by places. */
export function hunks<T extends string | number>(before: readonly T[], after: readonly T[], most?: number): Hunk[] {
  const found: Hunk[] = [];
  let i = 0;
  let j = 0;
  let from: readonly [number, number] | undefined;
  const end = () => {
    if (from) found.push({ before: [from[0], i], after: [from[1], j] });
    from = undefined;
  };
  for (const { kind, items } of difference(before, after, most)) {
    if (kind === 'same') end();
    else from ??= [i, j];
    if (kind !== 'added') i += items.length;
    if (kind !== 'removed') j += items.length;
  }
  end();
  return found;
}

/** Joins neighbouring runs of one kind, and puts what was removed before what was added. */
class EditRuns<T> {
  readonly list: EditRun<T>[] = [];

  add(kind: EditRun['kind'], items: readonly T[]): void {
    if (items.length === 0) return;
    const last = this.list.at(-1);
    if (last?.kind === kind) this.list[this.list.length - 1] = { kind, items: [...last.items, ...items] };
    else if (kind === 'removed' && last?.kind === 'added') {
      this.list.pop();
      this.add('removed', items);
      this.list.push(last);
    } else this.list.push({ kind, items });
  }
}

/** For each number of differences d, the furthest place of `from` on each diagonal −d … d; undefined = too many. */
function search<T>(from: readonly T[], to: readonly T[], most: number): Int32Array[] | undefined {
  const bound = Math.min(most, from.length + to.length);
  const furthest = new Int32Array(2 * bound + 3);
  const origin = bound + 1;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= bound; d++) {
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[origin + k - 1]! < furthest[origin + k + 1]!);
      let x = down ? furthest[origin + k + 1]! : furthest[origin + k - 1]! + 1;
      while (x < from.length && x - k < to.length && from[x] === to[x - k]) x++;
      furthest[origin + k] = x;
      if (x >= from.length && x - k >= to.length) {
        trace.push(furthest.slice(origin - d, origin + d + 1));
        return trace;
      }
    }
    trace.push(furthest.slice(origin - d, origin + d + 1));
  }
  return undefined;
}

/** Goes back from the end along the trace, then adds the steps in order. */
function walk<T>(trace: readonly Int32Array[], from: readonly T[], to: readonly T[], runs: EditRuns<T>): void {
  const steps: { kind: EditRun['kind']; start: number; end: number }[] = [];
  let x = from.length;
  let k = from.length - to.length;
  for (let d = trace.length - 1; d > 0; d--) {
    const before = trace[d - 1]!;
    const at = (diagonal: number) => before[diagonal + d - 1] ?? -1;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previous = down ? k + 1 : k - 1;
    const reached = at(previous);
    const begin = down ? reached : reached + 1;
    if (x > begin) steps.push({ kind: 'same', start: begin, end: x });
    if (down) steps.push({ kind: 'added', start: reached - previous, end: reached - previous + 1 });
    else steps.push({ kind: 'removed', start: reached, end: reached + 1 });
    x = reached;
    k = previous;
  }
  if (x > 0) steps.push({ kind: 'same', start: 0, end: x });
  for (const { kind, start, end } of steps.reverse()) runs.add(kind, (kind === 'added' ? to : from).slice(start, end));
}
