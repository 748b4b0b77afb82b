/** Masked by form, and told all the same: a date ahead says when something will be, and a checksum that a file is another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { announced } from '../../src/judge/announced.ts';
import { editsBetween } from '../../src/judge/edits.ts';

const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
const now = Date.UTC(2026, 4, 2, 12);

function edits(before: string, after: string, time = now): readonly string[] {
  const [old, fresh] = [before, after].map(text => {
    const body = Buffer.from(`<h1>Club</h1><p>${text}</p><p>The end of it.</p>`);
    return announced(piecesOf({ headers, body })!, time);
  });
  return editsBetween(old!, fresh!).edits.map(({ told }) => told);
}

for (const [before, after] of [
  ['Next meeting 5 May 2026, 18:00', 'Next meeting 12 May 2026, 18:00'],
  ['Next meeting: Tuesday, May 5, 2026 at 18:00', 'Next meeting: Tuesday, May 12, 2026 at 18:00'],
  ['It starts on 2026-05-05T18:00:00Z', 'It starts on 2026-05-12T18:00:00Z'],
  ['Begin: 05.05.2026 18:00', 'Begin: 12.05.2026 18:00'],
  ['Nächstes Treffen: 5. Mai 2026, 18:00', 'Nächstes Treffen: 12. Mai 2026, 18:00'],
  ['Próxima reunión: 5 de mayo de 2026, 18:00', 'Próxima reunión: 12 de mayo de 2026, 18:00'],
  ['Встреча 5 мая 2026, 18:00', 'Встреча 12 мая 2026, 18:00'],
  ['下次会议 2026年5月5日 18:00', '下次会议 2026年5月12日 18:00'],
  ['Next meeting Tuesday 5 May, 18:00', 'Next meeting Tuesday 12 May, 18:00'],
  ['Next meeting 28 April 2026, 18:00', 'Next meeting 5 May 2026, 18:00'],
  [`SHA-256: ${'1a2b3c4d'.repeat(8)}`, `SHA-256: ${'5e6f7a8b'.repeat(8)}`],
] as const)
  test(`told: ${before} → ${after}`, () => assert.equal(edits(before, after).length, 1));

for (const [before, after] of [
  ['Built 1 May 2026, 10:15:02', 'Built 2 May 2026, 09:07:12'],
  ['1 May 2026, 10:15:02', '2 May 2026, 09:07:12'],
  ['Fri, 01 May 2026 10:15:02 GMT', 'Sun, 03 May 2026 01:15:02 GMT'],
  ['01/05/2026 10:15', '02/05/2026 10:15'],
  ['Last updated on 3 March', 'Last updated on 2 May'],
  ['Built 8 September 2026, 10:15', 'Built 9 September 2026, 09:07'],
  ['The prices are changed on 5 May 2026', 'The prices are changed on 12 May 2026'],
  ['Copyright 2025', 'Copyright 2027'],
  ['Revision 1a2b3c4d', 'Revision 5e6f7a8b'],
  ['3 days ago', '4 days ago'],
] as const)
  test(`a stamp: ${before} → ${after}`, () => assert.deepEqual(edits(before, after), []));

test('a date that was ahead and has passed is the same as before', () => {
  assert.deepEqual(edits('Meeting 5 May 2026, 18:00', 'Meeting 5 May 2026, 18:00', now + 30 * DAY), []);
});
