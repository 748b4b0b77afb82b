/** Asks for many pages at once, for tests that limit or stop the process; prints how each ended. */
import { openFetcher } from '../../src/crawler/fetch/fetcher.ts';

const [origin = '', count = '0', timeouts = '{}'] = process.argv.slice(2);
const fetcher = openFetcher({ userAgent: 'Skein/0', timeouts: JSON.parse(timeouts) });
const asks = Array.from({ length: Number(count) }, (_, i) =>
  fetcher.fetch({ url: `${origin}/${i}`, maxBytes: 1000, allowPrivate: true, accept: 'text/html' }),
);
const answers = await Promise.all(asks);
const ends = new Map<string, number>();
for (const each of answers) {
  const end = each.kind === 'failure' ? each.reason : String(each.status);
  ends.set(end, (ends.get(end) ?? 0) + 1);
}
console.log(JSON.stringify(Object.fromEntries(ends)));
await fetcher.close();
