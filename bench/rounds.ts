/**
 * What budgets and freshness do at each recorded site, the worst one named: the product's own ledger, schedule and
 * rounds over the labels of the recordings, without HTTP (bench/bytes.ts has that, at a hundred times the time).
 *
 *   node bench/rounds.ts [--days 14] [--from 0,15,30] [--data DIR] [--aims 10%,0.98] [--sites superset,julia]
 *     [--sitemaps | --no-sitemaps] [--validators correct,deploy,none,lm-now,half] [--alone] [--vary [--constants HEARD,…]]
 *     [--scenes 1,2,3] [--watch 30%] [--short] [--verbose]
 *
 * `--from`: recorded days that count as day 0, a run for each; the last table has all of them, `--short` nothing else.
 * `--scenes`: made-up sites with waves in every rhythm instead of recordings (rounds/scenes.ts), a run for each seed.
 * `--alone`: each site is a collection of its own.
 * `--vary`: each constant that decides anything here is given other values, and chosen anew on all sites but one: what
 * would that one get? The difference to the value in use is what the choice owes to having seen the site. Each is judged by
 * what it is for: freshness, the interval, or what a freshness costs.
 * `--watch`: how soon does a watch with this budget tell of changes?
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { historiesAvailable, useHistories } from './histories.ts';
import { type Aim, Collection, type Day, type Served } from './rounds/collection.ts';
import { printRun, type SiteFigures, sitesOf } from './rounds/report.ts';
import { sceneOf } from './rounds/scenes.ts';
import { type Page, readSites } from './rounds/sites.ts';
import { conditionalBytes, printSummary, type Run } from './rounds/summary.ts';
import { CONSTANTS, type Constant, printLeftOut, together, type Varied } from './rounds/vary.ts';
import { printWatch } from './rounds/watch.ts';

const { values: given } = parseArgs({
  options: {
    days: { type: 'string', default: '14' },
    from: { type: 'string', default: '0' },
    scenes: { type: 'string' },
    data: { type: 'string' },
    aims: { type: 'string', default: '10%,0.98' },
    sites: { type: 'string' },
    'no-sitemaps': { type: 'boolean', default: false },
    sitemaps: { type: 'boolean', default: false },
    vary: { type: 'boolean', default: false },
    constants: { type: 'string' },
    watch: { type: 'string' },
    validators: { type: 'string', default: 'correct' },
    alone: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

useHistories(given.data);
if (!historiesAvailable && given.scenes === undefined) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}
if (given.vary) vary();
else if (given.watch)
  printWatch(
    readSites(Number(given.days), () => true),
    Number(given.days),
    Number.parseFloat(given.watch) / 100,
  );
else measure();

function measure(): void {
  const days = Number(given.days);
  const names = given.sites?.split(',');
  const runs: Run[] = [];
  const chosen = (site: string) => !names || names.some(name => site.includes(name));
  for (const from of (given.scenes ?? given.from).split(',').map(Number)) {
    const all = given.scenes ? sceneOf(from, days).filter(({ site }) => chosen(site)) : readSites(days, chosen, from);
    const collections = given.alone ? [...Map.groupBy(all, page => page.site).values()] : [all];
    for (const [pages, aim, served] of product(collections, given.aims.split(','), servings())) {
      const name = `${aim}, ${served.sitemaps ? 'sitemaps' : 'no sitemaps'}, ${served.validators}`;
      const run = runOf(pages, { days, aim: aimOf(aim), served });
      const share = aim.endsWith('%') ? Number.parseFloat(aim) / 100 : undefined;
      runs.push({ name, from, days: run, pages, served, share });
      if (given.json) console.log(JSON.stringify(sitesOf(run, conditionalBytes({ pages, days: run, served }))));
      else if (!given.short) printRun(`${name}, from day ${from}`, run, given.verbose);
    }
  }
  if (!given.json) printSummary(runs);
}

function runOf(pages: readonly Page[], { days, aim, served }: { days: number; aim: Aim; served: Served }): Day[] {
  const collection = new Collection(pages, served);
  collection.crawl();
  const run = Array.from({ length: days }, (_, i) => collection.round(i + 1, aim));
  collection.close();
  return run;
}

function servings(): Served[] {
  const validators = given.validators.split(',') as Served['validators'][];
  const sitemaps = [true, false].filter(each => !given[each ? 'no-sitemaps' : 'sitemaps']);
  return sitemaps.flatMap(each => validators.map(sent => ({ sitemaps: each, validators: sent })));
}

function product<A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]): [A, B, C][] {
  return as.flatMap(a => bs.flatMap(b => cs.map((c): [A, B, C] => [a, b, c])));
}

function aimOf(text: string): Aim {
  return text.endsWith('%') ? { share: Number.parseFloat(text) / 100 } : { freshness: Number(text) };
}

/** One process for each value, because a constant is read when its module is. */
function vary(): void {
  const hook = fileURLToPath(new URL('./rounds/varied.ts', import.meta.url));
  const stretch = given.scenes ? ['--scenes', given.scenes] : ['--from', given.from];
  const args = ['--import', hook, fileURLToPath(import.meta.url), '--json', '--days', given.days, ...stretch];
  const data = given.data === undefined ? [] : ['--data', given.data];
  const runWith = ({ aim, sitemaps }: Constant, value: string): SiteFigures[] => {
    const env = { ...process.env, SKEIN_VARIED: value };
    const more = ['--aims', aim, sitemaps ? '--sitemaps' : '--no-sitemaps', ...data];
    const lines = execFileSync(process.execPath, [...args, ...more], { env, encoding: 'utf8' })
      .trim()
      .split('\n');
    return together(lines.map(line => JSON.parse(line) as SiteFigures[]));
  };
  const used = new Map<string, SiteFigures[]>();
  const wanted = given.constants?.split(',');
  for (const constant of CONSTANTS.filter(({ name }) => !wanted || wanted.includes(name))) {
    const { file, name, values, aim, sitemaps } = constant;
    const key = `${aim} ${sitemaps}`;
    if (!used.has(key)) used.set(key, runWith(constant, ''));
    const others = values.map((value): Varied => ({ value, sites: runWith(constant, `${file} ${name} ${value}`) }));
    printLeftOut(constant, [{ value: 'in use', sites: used.get(key)! }, ...others]);
  }
}
