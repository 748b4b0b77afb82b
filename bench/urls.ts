/**
 * What a link costs before anything is fetched: normal form, fingerprint, and the question to robots.txt. Links of real
 * pages, from the recorded sites beside the project; the platform's own URL parser in the same run. CPU time, best of
 * seven rounds, because the machine may be shared.
 */
import { fingerprint, normalise, resolver } from '../src/base/url.ts';
import { allowed, parseRobots } from '../src/crawler/robots/robots.ts';
import { realLinks } from '../test/real-links.ts';

const found = realLinks(12_000);
if (found === undefined) {
  console.log('../shared/data/dev is not there: nothing to measure on');
  process.exit(0);
}
// Flat strings, as the scanner gives them; slices of a page would cost more to read.
const links = found.map(([page, href]) => [page, Buffer.from(href).toString()] as const);
const pages = new Map<string, string[]>();
for (const [page, href] of links) pages.set(page, [...(pages.get(page) ?? []), href]);
const urls = links.map(([page, href]) => normalise(href, page)).filter(url => url !== undefined);

/** Microseconds of CPU per call. `work` returns something that depends on every call, so that none is left out. */
function measure(calls: number, work: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const start = process.cpuUsage();
    if (Number.isNaN(work())) throw new Error('nothing was measured');
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / calls);
  }
  return best;
}

function resolveAll(): number {
  let sum = 0;
  for (const [page, hrefs] of pages) {
    const resolve = resolver(page);
    for (const href of hrefs) sum += resolve(href)?.length ?? 0;
  }
  return sum;
}

const print = { high: 0, low: 0 };
const robots = parseRobots(['User-agent: *', ...rulesLike(urls, 300)].join('\n'));

/** Two rules of three are plain prefixes, the third has a wildcard. */
function rulesLike(examples: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const path = new URL(examples[Math.floor((i * examples.length) / count)]!).pathname;
    const pattern = i % 3 < 2 ? path : `${path.slice(0, path.indexOf('/', 1) + 1)}*.${i}$`;
    return `${i % 4 === 0 ? 'Allow' : 'Disallow'}: ${pattern}`;
  });
}

const parser = measure(links.length, () =>
  links.reduce((sum, [page, href]) => sum + (URL.parse(href, page)?.href.length ?? 0), 0),
);
const rows = {
  'new URL(href, page).href': parser,
  'normalise(href, page)': measure(links.length, () =>
    links.reduce((sum, [page, href]) => sum + (normalise(href, page)?.length ?? 0), 0),
  ),
  'resolver(page)(href)': measure(links.length, resolveAll),
  'fingerprint(url)': measure(urls.length, () => urls.reduce((sum, url) => sum + fingerprint(url, print).low, 0)),
  'allowed(robots of 300 rules, url)': measure(urls.length, () =>
    urls.reduce((sum, url) => sum + Number(allowed(robots, 'skein', url).allowed), 0),
  ),
};
console.log(`${links.length} links of ${pages.size} pages`);
for (const [name, cost] of Object.entries(rows)) {
  console.log(
    `${name.padEnd(36)} ${cost.toFixed(3).padStart(7)} µs  ${(cost / parser).toFixed(2).padStart(5)} × the parser`,
  );
}
