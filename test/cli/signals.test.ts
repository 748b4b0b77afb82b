import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSignal } from '../../src/cli/signals.ts';

test('from one meaning of Ctrl-C to the next, no moment is without a listener', async () => {
  const heard: string[] = [];
  const earlier = (): void => void heard.push('earlier');
  process.on('SIGINT', earlier);
  const left: number[] = [];
  const count = (name: string | symbol): void => {
    if (name === 'SIGINT') left.push(process.listenerCount('SIGINT'));
  };
  process.on('removeListener', count);
  try {
    const stopped = nextSignal();
    assert.deepEqual(left, [1], 'the earlier one left when the new one was there');
    process.kill(process.pid, 'SIGINT');
    await stopped;
    assert.deepEqual(heard, []);
  } finally {
    process.off('removeListener', count);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
  }
});
