/**
 * Crawls a site and writes a line of JSON for each page: where it is, what it is called, what it says, where it leads.
 *
 *   node pages-to-jsonl.ts https://example.org ./collection > pages.jsonl
 */
import { open } from 'skein';

const [seed, data = './collection'] = process.argv.slice(2);
if (seed === undefined) throw new Error('Name a URL to start from.');

const skein = await open({ data, pace: Number(process.env['PACE'] ?? 1), maxPages: 100 });
try {
  for await (const page of skein.crawl(seed)) {
    if (page.outcome !== 'fetched') continue;
    const { url, title } = page;
    const line = {
      url,
      title,
      words: (await page.text())?.split(/\s+/).length ?? 0,
      links: page.links().map(link => link.url),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
} finally {
  await skein.close();
}
