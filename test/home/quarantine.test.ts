import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Quarantine } from '../../src/home/audit/quarantine.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-quarantine-'));
after(() => rmSync(directory, { recursive: true }));

test('who lied stays distrusted in later runs, until someone forgives it, in whichever process', () => {
  const first = new Quarantine(directory);
  first.add('near', 'it lied');
  const second = new Quarantine(directory);
  assert.equal(second.reason('near'), 'it lied');
  assert.equal(second.remove('near'), true);
  assert.equal(second.remove('near'), false);
  assert.equal(first.reason('near'), 'it lied', 'until it reads the file again');
  first.read();
  assert.equal(first.reason('near'), undefined);
});

test('an outpost may be called anything', () => {
  const quarantine = new Quarantine(directory);
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(quarantine.reason(name), undefined, name);
  quarantine.add('__proto__', 'it lied');
  assert.equal(new Quarantine(directory).reason('__proto__'), 'it lied');
});
