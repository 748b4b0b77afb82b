/**
 * How well the main text of a page is found: F1 beside Readability's and defuddle's over the same pages in the same run,
 * for a page alone and with its site. Both halves of each suite are told (by a hash of the page's name): the rules were
 * made looking at half A only.
 *
 *   node bench/main-text.ts [--suite NAME] [--articles FOLDER] [--alone] [--worst]
 */
import { parseArgs } from 'node:util';
import { extractPage, textOf } from '../src/extract/page.ts';
import { SiteBlocks } from '../src/extract/site.ts';
import { hash } from './main-text/hash.ts';
import { defuddle, readability } from './main-text/peers.ts';
import { type Score, score } from './main-text/score.ts';
import { type Sample, type Suite, suites } from './main-text/suites.ts';

const { values } = parseArgs({
  options: {
    suite: { type: 'string' },
    articles: { type: 'string' },
    alone: { type: 'boolean', default: false },
    worst: { type: 'boolean', default: false },
  },
});

type Contender = (page: Sample) => string | Promise<string>;

/** Browsers write the numbers of items: neither the truth nor a peer's HTML has them. */
const words = (text: string): string => text.replace(/^\s*\d+\. /gm, '');

function contendersFor({ site }: Suite): Record<string, Contender> {
  const skein: Record<string, Contender> = { skein: ({ html, url }) => words(textOf(extractPage(html, url))) };
  if (site.length > 0) {
    const blocks = new SiteBlocks();
    for (const html of site) blocks.add(html);
    skein['skein+site'] = ({ html, url }) => words(textOf(extractPage(html, url, blocks)));
  }
  return values.alone
    ? skein
    : { ...skein, readability: ({ html }) => readability(html), defuddle: ({ html, url }) => defuddle(html, url) };
}

interface Judged extends Score {
  readonly page: Sample;
}

async function judge(pages: readonly Sample[], contender: Contender): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const page of pages) {
    let found = '';
    try {
      found = await contender(page);
    } catch {
      // A page that a contender cannot read counts as nothing found.
    }
    judged.push({ page, ...score(found, page.truth) });
  }
  return judged;
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length);
const cell = (number: number) => number.toFixed(3).padStart(9);
const inA = ({ page }: Judged) => hash(page.name) % 2 === 0;

for (const suite of suites('../shared', values.articles)) {
  if (values.suite !== undefined && values.suite !== suite.name) continue;
  console.log(`\n${suite.name}, ${suite.pages.length} pages`);
  console.log('              F1 all   half A   half B    worst precision   recall');
  for (const [name, contender] of Object.entries(contendersFor(suite))) {
    const judged = await judge(suite.pages, contender);
    const f1 = (some: readonly Judged[]) => mean(some.map(each => each.f1));
    const worst = judged.toSorted((a, b) => a.f1 - b.f1).slice(0, 10);
    const columns = [
      ...[f1(judged), f1(judged.filter(inA)), f1(judged.filter(each => !inA(each))), worst[0]?.f1 ?? 0],
      ...[mean(judged.map(each => each.precision)), mean(judged.map(each => each.recall))],
    ];
    console.log(`${name.padEnd(11)}${columns.map(cell).join('')}`);
    if (!values.worst) continue;
    for (const { page, f1: its, precision, recall } of worst) {
      console.log(
        `      ${its.toFixed(3)} (${precision.toFixed(2)}, ${recall.toFixed(2)}) ${inA({ page } as Judged) ? 'A' : 'B'} ${page.name}`,
      );
    }
  }
}
