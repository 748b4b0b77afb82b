/** What the owner of a machine allows: neither an errand nor a parent can widen it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { Allowance } from '../../src/outpost/owner/meter.ts';
import { Owner, type OwnerTerms } from '../../src/outpost/owner/owner.ts';
import type { Welcome } from '../../src/transfer/wire/messages.ts';
import { plainErrand } from '../errand/plain-errand.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-owner-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

function owner(terms: Partial<OwnerTerms> = {}): Owner {
  const all = { name: 'near', servers: [], allowPrivate: false, clock: systemClock, ...terms };
  return new Owner(all, join(directory, String(files++)));
}

const welcome = (more: Partial<Welcome>): Welcome => ({
  ...{ home: 'key', contact: '', servers: [], pagesADay: 0, bytesADay: 0, level: 1 },
  ...more,
});

const errand = (origin: string, allowPrivate = false) => plainErrand('one', origin, { server: { allowPrivate } });

test('private addresses are open only where the errand and the owner both say so', () => {
  for (const [asked, allowed] of [
    [true, true],
    [true, false],
    [false, true],
  ] as const) {
    const { server } = owner({ allowPrivate: allowed }).admit(errand('http://10.0.0.1', asked));
    assert.equal(server.allowPrivate, asked && allowed, `asked ${asked}, allowed ${allowed}`);
  }
});

test('servers: those that the owner and the parent both allow', () => {
  const narrow = owner({ servers: ['geese.example', 'ducks.example'] });
  narrow.narrow(welcome({ servers: ['geese.example', 'swans.example'] }));
  assert.equal(narrow.admit(errand('https://www.geese.example')).id, 'one');
  for (const origin of ['https://ducks.example', 'https://swans.example', 'https://elsewhere.example'])
    assert.throws(() => narrow.admit(errand(origin)), { code: 'refused', message: /rules of near exclude/ });
  const nothing = owner({ servers: ['ducks.example'] });
  nothing.narrow(welcome({ servers: ['swans.example'] }));
  assert.throws(() => nothing.admit(errand('https://ducks.example')), { code: 'refused' });
});

test('a parent may lower what can be used in a day, and says so when it is used up', () => {
  const generous = owner({ quota: { pages: 100 } });
  generous.narrow(welcome({ pagesADay: 8 }));
  assert.equal(generous.spent, '');
  const thread = new Allowance(generous.meter.shared);
  for (let i = 0; i < 8; i++) assert.equal(thread.request(), true);
  assert.equal(thread.request(), false, 'the ninth is not made');
  assert.equal(generous.collect(), true);
  assert.match(generous.spent, /near has reached its limit for today: the 8 pages a day are used up/);
  assert.throws(() => generous.admit(errand('https://geese.example')), { code: 'refused' });
});
