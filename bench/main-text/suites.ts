/**
 * Pages with the text that is their own. `readability`: Mozilla's test pages, whose truth is what Readability itself made
 * of them. `articles`: news and blogs marked by people (scrapinghub/article-extraction-benchmark), where its folder is
 * given. The others: documentation in Debian's packages, whose truth is what stands between the frames that its generator
 * puts around every page.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { selectAll } from 'css-select';
import { bodyOf, type Document, type Element, isTag, isText, treeOf } from '../../src/extract/tree.ts';
import { type Documentation, documentation } from './documentation.ts';
import { hash } from './hash.ts';

export interface Sample {
  readonly name: string;
  readonly url: string;
  readonly html: string;
  readonly truth: string;
}

export interface Suite {
  readonly name: string;
  readonly pages: readonly Sample[];
  /** Other pages of the same server. */
  readonly site: readonly string[];
}

/** Documentation pages judged, and other pages of the site looked at, for each. */
const JUDGED = 120;
const SITE = 80;

export function suites(shared: string, articles: string | undefined): Suite[] {
  const found: Suite[] = [];
  const packed = join(shared, 'suites/main-text/readability-test-pages.tar.xz');
  if (existsSync(packed)) found.push(readabilityPages(packed));
  if (articles !== undefined && existsSync(join(articles, 'ground-truth.json'))) found.push(articlePages(articles));
  for (const each of documentation) if (existsSync(each.folder)) found.push(...bothOf(docPages(each)));
  return found;
}

function readabilityPages(packed: string): Suite {
  const folder = mkdtempSync(join(tmpdir(), 'skein-main-text-'));
  execFileSync('tar', ['xJf', packed, '-C', folder]);
  const pages = globSync('*/source.html', { cwd: folder }).map(path => {
    const html = readFileSync(join(folder, path), 'utf8');
    const expected = readFileSync(join(folder, path, '../expected.html'), 'utf8');
    return { name: path.split('/')[0]!, url: 'http://fakehost/test/page.html', html, truth: wordsIn(treeOf(expected)) };
  });
  return { name: 'readability', pages, site: [] };
}

function articlePages(folder: string): Suite {
  const truths = JSON.parse(readFileSync(join(folder, 'ground-truth.json'), 'utf8')) as Record<
    string,
    { articleBody: string; url: string }
  >;
  const pages = Object.entries(truths).map(([id, { articleBody, url }]) => ({
    ...{ name: `${id.slice(0, 8)} ${URL.parse(url)?.host}`, url, truth: articleBody },
    html: gunzipSync(readFileSync(join(folder, 'html', `${id}.html.gz`))).toString(),
  }));
  return { name: 'articles', pages, site: [] };
}

function docPages({ name, folder, pages: wanted = '**/*.html', content, without }: Documentation): Suite {
  const paths = globSync(wanted, { cwd: folder }).sort((a, b) => hash(a) - hash(b));
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const pages: Sample[] = [];
  let next = 0;
  for (; next < paths.length && pages.length < JUDGED; next++) {
    const html = read(paths[next]!);
    const tree = treeOf(html);
    const [main] = selectAll(content, tree as never) as unknown as Element[];
    const truth = main && wordsIn(main, new Set(selectAll(without, main as never) as unknown as Element[]));
    // A page of a few words is a forward to another one.
    if (truth === undefined || truth.length < 200 || /http-equiv="?refresh/i.test(html)) continue;
    pages.push({ name: paths[next]!, url: `http://${name}.example/${paths[next]}`, html, truth });
  }
  return { name, pages, site: paths.slice(next, next + SITE).map(read) };
}

/** The same pages as their author might have written them: no names, no roles, no elements that say what they are for. */
function bothOf(suite: Suite): Suite[] {
  const pages = suite.pages.map(page => ({ ...page, html: nameless(page.html) }));
  return [suite, { name: `${suite.name}-nameless`, pages, site: suite.site.map(nameless) }];
}

function nameless(html: string): string {
  return html
    .replace(/\s(?:class|id|role|itemprop|aria-[a-z]+|summary)="[^"]*"/g, '')
    .replace(/<(\/?)(?:main|nav|article|section|aside|header|footer)(?=[\s>])/g, '<$1div');
}

const silent = new Set(['script', 'style', 'noscript', 'template', 'head']);

/** All words, whatever they mean: blocks stand apart. */
export function wordsIn(tree: Document | Element, without: ReadonlySet<unknown> = new Set()): string {
  const parts: string[] = [];
  const visit = (node: Document | Element): void => {
    for (const child of node.children) {
      if (isText(child)) parts.push(child.data);
      else if (isTag(child) && !silent.has(child.name) && !without.has(child)) {
        const apart = /^(?:p|div|li|td|th|tr|dt|dd|h\d|pre|br|section|article|ul|ol|table|figcaption|blockquote)$/.test(
          child.name,
        );
        if (apart) parts.push('\n');
        visit(child);
        if (apart) parts.push('\n');
      }
    }
  };
  visit(tree);
  return parts.join('');
}

export function wordsOfHtml(html: string): string {
  return wordsIn(bodyOf(treeOf(html)) as Document);
}
