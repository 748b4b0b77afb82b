/**
 * Is news ever lost, and how often is noise told, on made-up sites that nobody tuned to? Sites of many seeds with prices, counters,
 * tokens, lists by lot and edit waves (test/web/lively), kept fresh in memory by the product's judge.
 *
 *   node bench/lively.ts [--seeds 300-339] [--rounds 10] [--hard | --scenes all|name,name] [--verbose]
 *
 * --scenes: small sites of one kind each, in which noise and news look alike (test/web/lively/scenes.ts).
 */
import { parseArgs } from 'node:util';
import { simulate } from '../test/journeys/simulate.ts';
import { type PagePlan, planOf, scenePlan } from '../test/web/lively/plan.ts';
import { sceneNames } from '../test/web/lively/scenes.ts';
import type { Fault, Seen } from '../test/web/lively/tally.ts';

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1-8' },
    rounds: { type: 'string', default: '10' },
    hard: { type: 'boolean', default: false },
    scenes: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const [first, last = first] = given.seeds.split('-').map(Number) as [number, number?];
const rounds = Number(given.rounds);
const scenes = given.scenes === 'all' ? sceneNames : (given.scenes?.split(',') ?? []);
const all: Seen[] = [];
let clean = 0;
for (let seed = first; seed <= last!; seed++) {
  for (const scene of scenes) run(`${scene}, `, seed, scenePlan(seed, [scene]));
  if (scenes.length === 0) run('', seed, planOf(seed, given.hard ? 'hard' : 'usual'));
}

function run(name: string, seed: number, plans: readonly PagePlan[]): void {
  const seen = simulate(seed, rounds, plans);
  all.push(seen);
  const faults = { unseen: seen.unseen, noisy: seen.noisy, stale: seen.stale, waved: seen.waved };
  const bad = Object.entries(faults).filter(([, list]) => list.length > 0);
  if (bad.length === 0) clean++;
  console.log(
    `${name}seed ${seed}: ${seen.toldAtOnce} of ${seen.changes} changes at once, noise told ${seen.noiseFires} times ` +
      `(${percent(seen.noiseFires / seen.answers)}; first round ${seen.firstFires}), ` +
      `${seen.secondLooks} of ${seen.answers} answers to second looks, ${seen.waves} waves` +
      bad.map(([name, list]) => `; ${name.toUpperCase()} ${list.length}`).join(''),
  );
  for (const [name, list] of bad) for (const fault of latest(list)) console.log(`    ${name}: ${inWords(fault)}`);
}

function latest(list: readonly Fault[]): Fault[] {
  return [...new Map(list.map(fault => [fault.page, fault])).values()];
}

function inWords({ page, names, round, detail }: Fault): string {
  return `${page} (${names}): round ${round}, ${detail}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`;
}

const sum = (of: (seen: Seen) => number) => all.reduce((total, seen) => total + of(seen), 0);
console.log(
  `\n${clean} of ${all.length} sites clean over ${rounds} rounds; ${sum(s => s.toldAtOnce)} of ${sum(s => s.changes)} changes at once; ` +
    `noise told ${sum(s => s.noiseFires)} times in ${sum(s => s.answers)} answers ` +
    `(${percent(sum(s => s.noiseFires) / sum(s => s.answers))}, worst ${percent(Math.max(...all.map(s => s.noiseFires / s.answers)))}; ` +
    `of all but second looks ${percent(sum(s => s.noiseFires) / (sum(s => s.answers) - sum(s => s.secondLooks)))}), ` +
    `first round ${sum(s => s.firstFires)}; second looks ${percent(sum(s => s.secondLooks) / sum(s => s.answers))}`,
);
if (given.verbose) {
  const kinds = new Map<string, number>();
  for (const { firesByKind } of all)
    for (const [kind, fires] of firesByKind) kinds.set(kind, (kinds.get(kind) ?? 0) + fires);
  for (const [kind, fires] of [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 60))
    console.log(`${String(fires).padStart(5)}  ${kind}`);
}
