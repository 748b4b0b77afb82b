/** Opening a large collection takes seconds: all that it knows is read once. Whoever waits sees how far that is. */
import type { Reading } from '../../frontier/options.ts';
import { thousands } from './terminal.ts';

/** Milliseconds before the first word, and between two. */
const TERMINAL = { first: 1000, next: 200 };
const ELSEWHERE = { first: 10_000, next: 10_000 };
/** Rows between two looks at the time. */
const OFTEN = 5000;
/** Every page is read to know it, and most are once more, to know their copies. */
const READINGS = 2;

export function readingOf(pages: number): Reading {
  const terminal = process.stderr.isTTY === true;
  const { first, next } = terminal ? TERMINAL : ELSEWHERE;
  let due = performance.now() + first;
  let rows = 0;
  return function* counted(source) {
    for (const row of source) {
      yield row;
      if (++rows % OFTEN !== 0 || performance.now() < due) continue;
      due = performance.now() + next;
      const share = Math.min(99, Math.floor((100 * rows) / (READINGS * pages)));
      const line = `Opening the collection of ${thousands(pages)} pages: ${share}%`;
      process.stderr.write(terminal ? `\r\u001b[2K${line}` : `${line}\n`);
    }
    if (terminal) process.stderr.write('\r\u001b[2K');
  };
}
