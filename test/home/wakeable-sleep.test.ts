/** How home's loop waits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WakeableSleep } from '../../src/home/wakeable-sleep.ts';

/** A clock whose alarms ring when the test says so. */
function clockByHand() {
  const alarms: { ms: number; ring: () => void; signal: AbortSignal | undefined }[] = [];
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>(ring => {
      signal?.addEventListener('abort', () => ring());
      alarms.push({ ms, ring, signal });
    });
  return { alarms, clock: { now: () => 0, ticks: () => 0, sleep } };
}

test('a rest ends when somebody wakes it, and the next one waits for the same alarm', async () => {
  const { alarms, clock } = clockByHand();
  const rest = new WakeableSleep(clock);
  for (let turn = 0; turn < 3; turn++) {
    const slept = rest.sleep(100);
    rest.wake();
    await slept;
  }
  const last = rest.sleep(250);
  assert.deepEqual(
    alarms.map(({ ms }) => ms),
    [100],
  );
  alarms[0]!.ring();
  await last;
  const another = rest.sleep(250);
  assert.equal(alarms[1]!.ms, 250, 'one that rang is set anew');
  alarms[1]!.ring();
  await another;
});

test('waking nobody is nothing, and after the end no alarm is left', async () => {
  const { alarms, clock } = clockByHand();
  const rest = new WakeableSleep(clock);
  rest.wake();
  const slept = rest.sleep(100);
  rest.end();
  await slept;
  assert.equal(alarms[0]!.signal?.aborted, true);
});
