/**
 * Properties of what Skein tells, over sites made from seeds (test/web/lively): no real change stays unseen for more
 * than two visits, ever; no noise is told of more than three times; the copy that is handed out is the page that was
 * served; what many pages share is told once. SKEIN_SEEDS=4,9 and SKEIN_ROUNDS=30 choose others.
 */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { type Fault, MOST_NOISE, MOST_UNSEEN, type Seen } from '../web/lively/tally.ts';
import { keepLively } from './lively.ts';

const seeds = (process.env['SKEIN_SEEDS'] ?? '1,2,3').split(',').map(Number);
const rounds = Number(process.env['SKEIN_ROUNDS'] ?? 10);

for (const seed of seeds) {
  suite(`a lively site of seed ${seed}, over ${rounds} rounds`, () => {
    let seen: Seen;
    before(async () => {
      seen = await keepLively(seed, rounds);
      const { changes, toldAtOnce, noiseFires, answers, secondLooks, waves } = seen;
      console.log(
        `seed ${seed}: ${toldAtOnce} of ${changes} changes told at the visit that met them, noise told ${noiseFires} ` +
          `times, ${waves} waves, ${secondLooks} of ${answers} answers to second looks`,
      );
    });
    test('nearly all changes are told at the visit that meets them', () => {
      assert.ok(seen.toldAtOnce >= 0.98 * seen.changes, `${seen.toldAtOnce} of ${seen.changes}`);
    });
    test('noise is told at few visits', () => {
      assert.ok(seen.noiseFires <= 0.1 * seen.answers, `${seen.noiseFires} of ${seen.answers}`);
    });
    test(`no real change stays unseen for more than ${MOST_UNSEEN} visits`, () => none(seen.unseen));
    test(`no noise is told of more than ${MOST_NOISE} times`, () => none(seen.noisy));
    test('the copy that is handed out is the page that was served', () => none(seen.stale));
    test('what many pages share is told once, of the site', () => none(seen.waved));
  });
}

/** The first of them by page, so that a failure can be read. */
function none(faults: readonly Fault[]): void {
  const pages = new Map(faults.map(fault => [`${fault.page} (${fault.names})`, fault]));
  const lines = [...pages].map(([page, { round, detail }]) => `${page}: round ${round}, ${detail}`);
  assert.equal(faults.length, 0, `${faults.length} on ${pages.size} pages\n${lines.slice(0, 60).join('\n')}`);
}
