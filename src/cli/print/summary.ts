/** What a run did, as a table for people. */

import { isInVain, type Summary } from '../../engine/summary.ts';
import { meaningOf } from '../../errand/reasons.ts';
import { dataOption } from '../options/options.ts';
import { duration, fold, moment, paint, plural, size, table } from './terminal.ts';

/** What the table of outcomes counts beside the pages. */
function besides({ sitemaps, images }: Summary): string {
  const more = [sitemaps > 0 ? plural(sitemaps, 'sitemap') : [], images > 0 ? plural(images, 'image') : []].flat();
  return more.length === 0 ? '' : `${more.length === 1 ? ' and ' : ', '}${more.join(' and ')}`;
}

/** `directory`: where the collection is, unless it will not stay. `idle`: what to say when nothing was done. */
export function printSummary(summary: Summary, directory?: string, idle?: string): void {
  const { seconds, pagesPerSecond, bytes, memory, waiting } = summary;
  console.log(
    fold(
      `${paint('bold', plural(summary.pages, 'page'))}${besides(summary)} in ${duration(seconds * 1000)} ` +
        `(${pagesPerSecond}/s), ${size(bytes)} on the wire, ${size(memory)} of memory, ` +
        `${plural(summary.servers, 'server')}, ${plural(summary.known, 'URL')} known.`,
    ),
  );
  const rows = Object.entries(summary.reasons).map(([code, count]) => [code, count, meaningOf(code)]);
  if (rows.length > 0) console.log(`\n${table(['outcome', 'visits', 'meaning'], rows)}`);
  if (summary.filtered > 0) {
    const them = summary.filtered === 1 ? 'it' : 'them';
    console.log(`\n${plural(summary.filtered, 'page')} read for links but not stored: the filter excludes ${them}.`);
  }
  if (waiting > 0) {
    const [wait, them] = waiting === 1 ? ['waits', 'it'] : ['wait', 'them'];
    const how = summary.full
      ? `crawl: the collection has as many pages as --max-pages allowed. To fetch ${them}, crawl with a higher limit.`
      : `run: run the same command again to fetch ${them}.`;
    console.log(`\n${fold(`${plural(waiting, 'page')} ${wait} for a later ${how}`)}`);
  }
  if (directory === undefined) return;
  if (summary.nextRetry !== null) {
    const failed = plural(summary.retries, 'failed page');
    console.log(`\nA crawl or refresh after ${moment(summary.nextRetry)} retries ${failed}.`);
  }
  const data = dataOption(directory);
  if (isInVain(summary)) console.log(paint('yellow', '\nNo page could be fetched.'));
  else if (rows.length === 0 && waiting === 0) {
    if (summary.nextRetry !== null && idle === undefined) return;
    console.log(`\n${idle ?? `Nothing left to fetch. To look for changes: skein refresh${data}`}`);
  } else console.log(`\nThe collection is in ${directory}. List its pages with: skein pages${data}`);
}
