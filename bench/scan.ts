/**
 * How fast is the analysis of a page, beside htmlparser2 doing the same for a crawler: links resolved and unique, title,
 * tags, words of the visible text. Real pages: folders given on the command line, else Debian's documentation where it
 * is installed, else the recorded sites. CPU time, median of rounds in turn.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { resolver } from '../src/base/url.ts';
import { analyse } from '../src/crawler/analysis/analyse.ts';
import { Scanner } from '../src/crawler/scanner/scanner.ts';
import { entriesOf, historiesAvailable, openBlobs } from './histories.ts';

const MAX_PAGES = 1500;
const ROUNDS = 5;
const DOCUMENTS = ['/usr/share/doc/openjdk-17-jre-headless/api', '/usr/share/doc/postgresql-doc-15/html'];

interface Sample {
  readonly url: string;
  readonly body: Buffer;
}

function fromFolder(folder: string): Sample[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'));
  const step = Math.max(1, Math.floor(names.length / MAX_PAGES));
  return names
    .filter((_, i) => i % step === 0)
    .slice(0, MAX_PAGES)
    .map(name => ({ url: `http://docs.test/${name}`, body: readFileSync(join(folder, name)) }));
}

function fromHistories(): Sample[] {
  const blob = openBlobs();
  const pages = entriesOf(0).filter(entry => entry.ct.startsWith('text/html'));
  const step = Math.max(1, Math.floor(pages.length / MAX_PAGES));
  return pages
    .filter((_, i) => i % step === 0)
    .map(entry => ({ url: `https://${entry.s}${entry.u}`, body: Buffer.from(blob(entry.b)) }));
}

const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
const raw = new Uint8Array(16);
const scanner = new Scanner();

/** What a crawler built on htmlparser2 would do for the same page. */
function withParser({ url, body }: Sample): number {
  let base = url;
  const hrefs: string[] = [];
  let title = '';
  let inTitle = false;
  let hidden = 0;
  let text = '';
  let tags = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        tags++;
        if (name === 'a' || name === 'area') {
          if (attributes['href'] !== undefined) hrefs.push(attributes['href']);
        } else if (name === 'base') base = attributes['href'] ?? base;
        else if (name === 'title') inTitle = true;
        else if (name === 'script' || name === 'style') hidden++;
      },
      ontext(data) {
        if (inTitle) title += data;
        if (hidden === 0) text += data;
      },
      onclosetag(name) {
        if (name === 'title') inTitle = false;
        else if (name === 'script' || name === 'style') hidden--;
      },
    },
    { decodeEntities: true },
  );
  parser.end(body.toString());
  const resolve = resolver(base);
  const unique = new Set<string>();
  for (const href of hrefs) {
    const link = resolve(href);
    if (link !== undefined) unique.add(link);
  }
  const words = text.split(/\s+/).length;
  return unique.size + tags + words + title.length;
}

const contenders: Readonly<Record<string, (sample: Sample) => unknown>> = {
  analyse: ({ url, body }) => analyse({ url, headers, body, raw }),
  'scanner alone': ({ body }) => scanner.scan(body, 'html'),
  htmlparser2: withParser,
};

function measure(samples: readonly Sample[], run: (sample: Sample) => unknown): number {
  const before = process.cpuUsage();
  for (const sample of samples) run(sample);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function report(name: string, samples: readonly Sample[]): void {
  const bytes = samples.reduce((sum, { body }) => sum + body.length, 0);
  const times = new Map(Object.keys(contenders).map(key => [key, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [key, run] of Object.entries(contenders)) times.get(key)!.push(measure(samples, run));
  }
  const median = (key: string): number => times.get(key)!.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  console.log(`${name}: ${samples.length} pages, mean ${Math.round(bytes / samples.length / 1000)} kB`);
  for (const key of Object.keys(contenders)) {
    const seconds = median(key);
    const rate = `${(bytes / 1e6 / seconds).toFixed(0).padStart(5)} MB/cpu-s`;
    const pages = `${(samples.length / seconds).toFixed(0).padStart(6)} pages/cpu-s`;
    console.log(`  ${key.padEnd(17)} ${rate} ${pages}  ${(median('htmlparser2') / seconds).toFixed(1)} × htmlparser2`);
  }
}

const folders =
  process.argv.slice(2).length > 0 ? process.argv.slice(2) : DOCUMENTS.filter(folder => existsSync(folder));
for (const folder of folders) report(folder, fromFolder(folder));
if (process.argv.length === 2 && historiesAvailable) report('recorded sites, first day', fromHistories());
