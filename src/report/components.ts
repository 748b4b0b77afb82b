/** Components of the graph of pages, without recursion: a site may be a chain of a million pages. */

export interface Components {
  readonly strong: number;
  readonly weak: number;
  readonly largestWeak: number;
  readonly core: number;
  readonly intoCore: number;
  readonly fromCore: number;
  readonly rest: number;
}

interface Graph {
  /** Targets of page `id` are those from starts[id] to starts[id + 1]. */
  readonly starts: Uint32Array;
  readonly targets: Uint32Array;
}

export function strongComponents(ids: readonly number[], pairs: Uint32Array, last: number): Components {
  const forward = graphOf(pairs, last, 0);
  const backward = graphOf(pairs, last, 1);
  const { component, sizes } = tarjan(ids, forward, last);
  let largest = 0;
  for (let i = 1; i < sizes.length; i++) if (sizes[i]! > sizes[largest]!) largest = i;
  const core = ids.filter(id => component[id] === largest + 1);
  const fromCore = reached(core, forward, last);
  const intoCore = reached(core, backward, last);
  const weak = weakSizes(ids, pairs, last);
  const into = ids.filter(id => intoCore[id] && component[id] !== largest + 1).length;
  const from = ids.filter(id => fromCore[id] && component[id] !== largest + 1).length;
  return {
    strong: sizes.length,
    weak: weak.length,
    largestWeak: weak.reduce((most, size) => Math.max(most, size), 0),
    core: core.length,
    intoCore: into,
    fromCore: from,
    rest: ids.length - core.length - into - from,
  };
}

function graphOf(pairs: Uint32Array, last: number, from: 0 | 1): Graph {
  const starts = new Uint32Array(last + 2);
  for (let i = from; i < pairs.length; i += 2) starts[pairs[i]! + 1]!++;
  for (let id = 1; id < starts.length; id++) starts[id]! += starts[id - 1]!;
  const next = starts.slice();
  const targets = new Uint32Array(pairs.length / 2);
  for (let i = 0; i < pairs.length; i += 2) targets[next[pairs[i + from]!]!++] = pairs[i + 1 - from]!;
  return { starts, targets };
}

/** Tarjan's algorithm with a stack of its own. `component`: number from 1 on, by page. */
function tarjan(ids: readonly number[], { starts, targets }: Graph, last: number) {
  const component = new Uint32Array(last + 1);
  const index = new Uint32Array(last + 1);
  const low = new Uint32Array(last + 1);
  const at = starts.slice();
  const open: number[] = [];
  const sizes: number[] = [];
  let count = 0;
  const close = (id: number) => {
    let size = 0;
    for (let each = 0; each !== id; size++) {
      each = open.pop()!;
      component[each] = sizes.length + 1;
    }
    sizes.push(size);
  };
  for (const root of ids) {
    if (index[root] !== 0) continue;
    const way = [root];
    while (way.length > 0) {
      const id = way.at(-1)!;
      if (index[id] === 0) {
        index[id] = low[id] = ++count;
        open.push(id);
      }
      if (at[id]! < starts[id + 1]!) {
        const next = targets[at[id]!++]!;
        if (index[next] === 0) way.push(next);
        else if (component[next] === 0) low[id] = Math.min(low[id]!, index[next]!);
        continue;
      }
      way.pop();
      const parent = way.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[id]!);
      if (low[id] === index[id]) close(id);
    }
  }
  return { component, sizes };
}

function reached(from: readonly number[], { starts, targets }: Graph, last: number): Uint8Array {
  const seen = new Uint8Array(last + 1);
  const stack = [...from];
  for (const id of from) seen[id] = 1;
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    for (let i = starts[id]!; i < starts[id + 1]!; i++) {
      const next = targets[i]!;
      if (seen[next]) continue;
      seen[next] = 1;
      stack.push(next);
    }
  }
  return seen;
}

function weakSizes(ids: readonly number[], pairs: Uint32Array, last: number): number[] {
  const parent = Uint32Array.from({ length: last + 1 }, (_, id) => id);
  const rootOf = (id: number) => {
    let at = id;
    while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!;
    return at;
  };
  for (let i = 0; i < pairs.length; i += 2) parent[rootOf(pairs[i]!)] = rootOf(pairs[i + 1]!);
  const sizes = new Map<number, number>();
  for (const id of ids) sizes.set(rootOf(id), (sizes.get(rootOf(id)) ?? 0) + 1);
  return [...sizes.values()];
}
