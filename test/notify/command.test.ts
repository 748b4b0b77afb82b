import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../../src/notify/channels/command.ts';
import type { Message } from '../../src/notify/message.ts';

const message: Message = { id: 'a-1', rule: 'a', changes: [] };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

function isAlive(process_: number): boolean {
  try {
    return process.kill(process_, 0);
  } catch {
    return false; // there is no such process
  }
}

test('a command that takes too long ends with all that it started', async context => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-command-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'process');
  const ending = new AbortController();
  const sent = command(`sh -c 'echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 600' | cat`).send(
    message,
    ending.signal,
  );
  const refused = assert.rejects(sent, { message: 'the command took too long' });
  await until(() => existsSync(file));
  const started = Number(readFileSync(file, 'utf8'));
  assert.ok(isAlive(started));
  ending.abort();
  await refused;
  await until(() => !isAlive(started));
});

test('a command that fails says its code and its last words', async () => {
  const sent = command('echo nobody is here >&2; exit 3').send(message, new AbortController().signal);
  await assert.rejects(sent, { message: 'the command failed with code 3: nobody is here' });
});
