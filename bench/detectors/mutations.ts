/** On which edits of pages made from seeds each detector fires. */
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { compare, detectorNames } from '../../src/crawler/detect/compare.ts';
import { unpackFacts } from '../../src/errand/facts.ts';
import { randomly } from '../../test/random.ts';
import { makePage, mutators } from '../mutators.ts';

const PAGES = 100;
const headers = new Map([['content-type', 'text/html; charset=utf-8']]);

export function mutations(): void {
  console.log(`Share of ${PAGES} edits on which each detector fires\n`);
  const rows = new Map<string, string[]>(mutators.map(({ name }) => [name, []]));
  for (const mutator of mutators) {
    const fired = new Map<string, number>(detectorNames.map(name => [name, 0]));
    for (let seed = 1; seed <= PAGES; seed++) {
      const html = makePage(seed);
      const [before, after] = [html, mutator.mutate(html, randomly(seed * 31))].map(
        page => unpackFacts(analyse({ url: 'http://a.test/page', headers, body: Buffer.from(page) }).facts)!,
      );
      for (const name of detectorNames)
        if (compare(name, before, after!).changed) fired.set(name, fired.get(name)! + 1);
    }
    for (const name of detectorNames) rows.get(mutator.name)!.push(`${Math.round((fired.get(name)! / PAGES) * 100)}`);
  }
  console.log(
    ['', ...detectorNames.map(name => name.slice(0, 8).padStart(9))].join('').padStart(32 + detectorNames.length * 9),
  );
  for (const { name, kind } of mutators) {
    console.log(
      `${kind.padEnd(9)} ${name.padEnd(22)}${rows
        .get(name)!
        .map(share => share.padStart(9))
        .join('')}`,
    );
  }
}
