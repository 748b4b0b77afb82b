/** What a run did, as a table for people. */

import { isInVain, type Summary } from '../../engine/summary.ts';
import { meaningOf } from '../../errand/reasons.ts';
import { dataOption } from '../options/options.ts';
import { duration, fold, moment, paint, plural, size, table } from './terminal.ts';

/** `directory`: where the collection is, unless it will not stay. `idle`: what to say when nothing was done. */
export function printSummary(summary: Summary, directory?: string, idle?: string): void {
  const { seconds, pagesPerSecond, bytes, memory, waiting } = summary;
  console.log(
    fold(
      `${paint('bold', plural(summary.pages, 'page'))} in ${duration(seconds * 1000)} ` +
        `(${pagesPerSecond}/s), ${size(bytes)} on the wire, ${size(memory)} of memory, ` +
        `${plural(summary.servers, 'server')}, ${plural(summary.known, 'URL')} known.`,
    ),
  );
  const rows = Object.entries(summary.reasons).map(([code, count]) => [code, count, meaningOf(code)]);
  if (rows.length > 0) console.log(`\n${table(['outcome', 'visits', 'meaning'], rows)}`);
  if (summary.filtered > 0) {
    const them = summary.filtered === 1 ? 'it' : 'them';
    console.log(`\n${plural(summary.filtered, 'page')} read for links and not stored: the filter leaves ${them} out.`);
  }
  if (waiting > 0) {
    const [wait, them] = waiting === 1 ? ['waits', 'it'] : ['wait', 'them'];
    console.log(`\n${plural(waiting, 'page')} ${wait} for a later run: the same command goes on with ${them}.`);
  }
  if (directory === undefined) return;
  if (summary.nextRetry !== null) {
    const failed = plural(summary.retries, 'page that failed is', 'pages that failed are');
    console.log(`\n${failed} tried again by a crawl after ${moment(summary.nextRetry)}.`);
  }
  const data = dataOption(directory);
  if (isInVain(summary)) console.log(paint('yellow', '\nNothing could be collected.'));
  else if (rows.length === 0 && waiting === 0) {
    console.log(`\n${idle ?? `There was nothing left to do. To look for what changed: skein refresh${data}`}`);
  } else console.log(`\nThe collection is in ${directory}. Look at it with: skein pages${data}`);
}
