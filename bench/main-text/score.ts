/** F1 of a text against the true one: runs of four words that both have, each counted as often as it stands there. */
const RUN = 4;

function runsOf(text: string): Map<string, number> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const runs = new Map<string, number>();
  const size = Math.min(RUN, words.length);
  for (let i = 0; size > 0 && i + size <= words.length; i++) {
    const run = words.slice(i, i + size).join(' ');
    runs.set(run, (runs.get(run) ?? 0) + 1);
  }
  return runs;
}

export interface Score {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

export function score(found: string, truth: string): Score {
  const [mine, wanted] = [runsOf(found), runsOf(truth)];
  let both = 0;
  for (const [run, count] of mine) both += Math.min(count, wanted.get(run) ?? 0);
  const sum = (runs: Map<string, number>) => [...runs.values()].reduce((total, count) => total + count, 0);
  const [all, true_] = [sum(mine), sum(wanted)];
  if (all === 0 && true_ === 0) return { precision: 1, recall: 1, f1: 1 };
  const [precision, recall] = [all === 0 ? 0 : both / all, true_ === 0 ? 0 : both / true_];
  return { precision, recall, f1: both === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}
