/**
 * What budgets and freshness do at each recorded site, the worst one named: the product's own ledger, schedule and
 * rounds over the labels of the recordings, without HTTP (bench/bytes.ts has that, at a hundred times the time).
 *
 *   node bench/rounds.ts [--days 14] [--data DIR] [--aims 10%,0.98] [--sites superset,julia] [--no-sitemaps] [--vary]
 *     [--watch 30%] [--verbose]
 *
 * `--vary`: each constant that decides anything here is given other values, and chosen anew on all sites but one: what
 * would that one get? The difference to the value in use is what the choice owes to having seen the site.
 * `--watch`: how soon does a watch with this budget tell of changes?
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { historiesAvailable, useHistories } from './histories.ts';
import { type Aim, Collection, type Day } from './rounds/collection.ts';
import { printRun, type SiteFigures, sitesOf } from './rounds/report.ts';
import { readSites } from './rounds/sites.ts';
import { CONSTANTS, printLeftOut, type Varied } from './rounds/vary.ts';
import { printWatch } from './rounds/watch.ts';

const { values: given } = parseArgs({
  options: {
    days: { type: 'string', default: '14' },
    data: { type: 'string' },
    aims: { type: 'string', default: '10%,0.98' },
    sites: { type: 'string' },
    'no-sitemaps': { type: 'boolean', default: false },
    vary: { type: 'boolean', default: false },
    watch: { type: 'string' },
    json: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

useHistories(given.data);
if (!historiesAvailable) {
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
  const pages = readSites(days, site => !names || names.some(name => site.includes(name)));
  for (const aim of given.aims.split(',')) {
    for (const sitemaps of given['no-sitemaps'] ? [false] : [true, false]) {
      const collection = new Collection(pages, sitemaps);
      collection.crawl();
      const run: Day[] = [];
      for (let day = 1; day <= days; day++) run.push(collection.round(day, aimOf(aim)));
      collection.close();
      if (given.json) console.log(JSON.stringify(sitesOf(run)));
      else printRun(`${aim}, ${sitemaps ? 'sitemaps' : 'no sitemaps'}`, run, given.verbose);
    }
  }
}

function aimOf(text: string): Aim {
  return text.endsWith('%') ? { share: Number.parseFloat(text) / 100 } : { freshness: Number(text) };
}

/** One process for each value, because a constant is read when its module is. */
function vary(): void {
  const hook = fileURLToPath(new URL('./rounds/varied.ts', import.meta.url));
  const aims = given.aims.split(',')[0]!;
  const args = ['--import', hook, fileURLToPath(import.meta.url), '--json', '--no-sitemaps', '--days', given.days];
  const more = ['--aims', aims, ...(given.data === undefined ? [] : ['--data', given.data])];
  const runWith = (value: string): SiteFigures[] => {
    const env = { ...process.env, SKEIN_VARIED: value };
    return JSON.parse(execFileSync(process.execPath, [...args, ...more], { env, encoding: 'utf8' }));
  };
  const used = runWith('');
  for (const { file, name, values } of CONSTANTS) {
    const others = values.map((value): Varied => ({ value, sites: runWith(`${file} ${name} ${value}`) }));
    printLeftOut(name, [{ value: 'in use', sites: used }, ...others]);
  }
}
