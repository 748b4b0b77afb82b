/**
 * Where Skein's time goes, from the profiles of all its threads: each sample is charged to the innermost source file of
 * ours on the stack, so that SQLite counts for the ledger that called it, WebAssembly and system calls likewise. The
 * profiler samples by the clock, also while a thread waits for a core, so only shares are taken from it; the
 * microseconds are the shares of the CPU time that the system counted.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grid } from './report.ts';

/** First match wins. */
const STAGES: readonly (readonly [stage: string, file: RegExp])[] = [
  ['fetch', /src\/crawler\/fetch\//],
  ['scan', /src\/crawler\/(scanner|analyse|charset|page-robots)/],
  ['links', /src\/(crawler\/links|base\/url|base\/query|crawler\/relevance|ledger\/(links|backward|fingerprints))/],
  ['archive', /src\/(archive|errand\/(gzip|warc|deflate)|crawler\/pack)/],
  ['ledger', /src\/ledger/],
  ['frontier', /src\/(frontier|revisit)/],
  ['transfer', /src\/(transfer|errand|outpost|crawler\/parcels)/],
  ['search', /src\/(search|home\/search)/],
  ['rest', /src\//],
];

interface Profile {
  readonly nodes: readonly { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Microseconds of CPU by stage over all profiles in the folder; idle time is not among them. */
export function stageTimes(folder: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const file of readdirSync(folder).filter(name => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    const stages = stagesOf(profile);
    profile.samples.forEach((sample, index) => {
      const stage = stages.get(sample);
      if (stage !== undefined) sums.set(stage, (sums.get(stage) ?? 0) + profile.timeDeltas[index]!);
    });
  }
  return sums;
}

/** Stage of each node: its own file's, else that of whoever called it. */
function stagesOf(profile: Profile): Map<number, string | undefined> {
  const byId = new Map(profile.nodes.map(node => [node.id, node]));
  const stages = new Map<number, string | undefined>();
  const visit = (id: number, inherited: string | undefined): void => {
    const { callFrame, children } = byId.get(id)!;
    const own = ownStage(callFrame.functionName, callFrame.url);
    const stage = own === 'idle' ? undefined : (own ?? inherited);
    stages.set(id, stage);
    for (const child of children ?? []) visit(child, stage);
  };
  visit(profile.nodes[0]!.id, 'runtime');
  return stages;
}

function ownStage(name: string, url: string): string | undefined {
  if (name === '(idle)') return 'idle';
  if (name === '(garbage collector)') return 'garbage collection';
  return STAGES.find(([, file]) => file.test(url))?.[0];
}

export function stageTable(times: ReadonlyMap<string, number>, pages: number, cpuSeconds: number): string {
  const cost = (cpuSeconds * 1e6) / pages;
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times]
    .sort((a, b) => b[1] - a[1])
    .map(([stage, time]) => [stage, ((time / total) * cost).toFixed(0), `${((time * 100) / total).toFixed(0)}%`]);
  return grid([['stage', 'µs a page', 'share'], ...rows, ['all', cost.toFixed(0), '']]);
}
