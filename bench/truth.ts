/**
 * Is what Skein tells of change true? The recorded sites are crawled on day 0, then every page is looked at every day,
 * over HTTP on loopback, under servers that are honest and others that are not. Of each site, and of the worst: noise
 * that `skein changes` tells of, changes that few pages share and that it tells of (strict recall), and stored copies
 * that are the day's page by the labels that come with the sites.
 *
 *   node bench/truth.ts [--data DIR] [--days 7] [--sites 10 | --only host,host] [--profiles correct,deploy,…]
 *     [--budget 10%] [--verbose]
 *
 * The servers are static within a day: a second look at a page never differs from the first.
 */
import { parseArgs } from 'node:util';
import { startReplay } from './bytes/replay.ts';
import { historiesAvailable, recordedDays, useHistories } from './histories.ts';
import { measure } from './truth/run.ts';
import { aims, ratio, type Score, total } from './truth/score.ts';

const { values: given } = parseArgs({
  options: {
    data: { type: 'string' },
    days: { type: 'string', default: '7' },
    sites: { type: 'string', default: '0' },
    only: { type: 'string' },
    profiles: { type: 'string', default: 'correct,deploy,lm-now,none,half,no-sitemap' },
    budget: { type: 'string', default: '1000%' },
    verbose: { type: 'boolean', default: false },
  },
});

/** What each profile asks of the server. half: half of the sites send no validators. */
const servers: Readonly<Record<string, object>> = {
  correct: {},
  deploy: { profile: 'deploy' },
  'lm-now': { profile: 'lm-now' },
  none: { profile: 'none' },
  half: { noValidators: 0.5 },
  'no-sitemap': { sitemap: false },
};

useHistories(given.data);
if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}

const days = Math.min(Number(given.days), recordedDays() - 1);
const sites = given.only?.split(',') ?? Number(given.sites);
const profiles = given.profiles.split(',');
const results = new Map<string, Map<string, Score>>();
for (const profile of profiles) {
  const wanted = servers[profile];
  if (!wanted) throw new Error(`no profile named ${profile}; there are ${Object.keys(servers).join(', ')}`);
  // Below the ports that the system gives to clients.
  const replay = await startReplay(20_000 + Math.floor(Math.random() * 12_000), { sites, ...wanted });
  try {
    const onDay = (day: number) => given.verbose && console.error(`${profile}, day ${day}`);
    results.set(profile, await measure(replay, { days, more: { budget: given.budget }, onDay }));
  } finally {
    await replay.stop();
  }
}
report();

function percent(share: number, digits = 2): string {
  return `${(share * 100).toFixed(digits)}%`;
}

function row(profile: string, name: string, score: Score): string[] {
  return [
    profile,
    name,
    String(score.noise),
    percent(aims.noise.of(score)),
    String(score.unchangedTold),
    String(score.strict),
    aims.strict.of(score).toFixed(4),
    String(score.shared),
    ratio(score.sharedTold, score.shared, 1).toFixed(4),
    percent(aims.copies.of(score)),
    percent(ratio(score.rightOwn, score.copies, 1)),
    percent(ratio(score.same, score.copies, 1)),
    String(score.inferred),
    percent(ratio(score.inferredRight, score.inferred, 1)),
    percent(ratio(score.visits, score.copies, 1), 1),
  ];
}

function report(): void {
  const header = [
    ...['servers', 'site', 'noise', 'told', 'quiet told', 'changes', 'strict recall', 'shared', 'told'],
    ...['copies right', 'but for shared', 'to the byte', 'inferred', 'right', 'visited'],
  ];
  const rows = [...results].flatMap(([profile, scores]) => [
    ...[...scores].map(([site, score]) => row(profile, site, score)),
    row(profile, 'all', total(scores.values())),
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...rows].map(each => each[at]!.length)));
  for (const each of [header, ...rows])
    console.log(each.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '));
  console.log('');
  verdict('most noise told', 'noise', (one, other) => one > other);
  verdict('least strict recall', 'strict', (one, other) => one < other);
  verdict('fewest copies right', 'copies', (one, other) => one < other);
}

/** The worst site under the worst servers is what counts. */
function verdict(what: string, aim: keyof typeof aims, worse: (one: number, other: number) => boolean): void {
  const all = [...results].flatMap(([profile, scores]) =>
    [...scores].map(([site, score]) => ({ where: `${site}, ${profile}`, value: aims[aim].of(score) })),
  );
  const worst = all.reduce((bad, each) => (worse(each.value, bad.value) ? each : bad));
  const bound = aims[aim];
  const met = 'most' in bound ? worst.value <= bound.most : worst.value >= bound.least;
  const wanted = 'most' in bound ? `at most ${percent(bound.most)}` : `at least ${percent(bound.least)}`;
  console.log(
    `${what} of any site: ${percent(worst.value)} (${worst.where}), aim ${wanted} (${met ? 'met' : 'missed'})`,
  );
}
