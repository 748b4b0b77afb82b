/**
 * spider-rs (Rust, through its Node binding) as a contender: saves bodies as they come. It reads no links from pages
 * that begin with an XML declaration, as those of PostgreSQL do, so it is given what it can crawl: the Java pages.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, directory, , seed] = process.argv.slice(2) as [string, string, string, string];
const { Website } = createRequire(join(modules, 'x.js'))('@spider-rs/spider-rs');

let saved = 0;
const website = new Website(seed).withRespectRobotsTxt(false).build();
await website.crawl((error: Error | null, page: { url: string; content: string }) => {
  if (error !== null) throw error;
  saved++;
  writeFileSync(join(directory, `${createHash('sha1').update(page.url).digest('hex')}.html`), page.content);
});
// The crawl can end before its pages have all been handed over, and pages that nobody stored do not count: wait for all
// that it says it has, unless none comes any more.
for (let before = -1; before < saved && saved < website.size; ) {
  before = saved;
  await new Promise(resolve => setTimeout(resolve, 200));
}
process.exit(0); // its thread pool would keep the process alive
