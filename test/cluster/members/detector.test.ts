import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partOfCapacity } from '../../../src/cluster/members/capacity.ts';
import { Detector } from '../../../src/cluster/members/detector.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat, idle } from '../../../src/cluster/members/heartbeat.ts';
import { randomly } from '../../random.ts';

/** Contact with the engine each second, from a to b; heartbeats of those named. */
function pass(detector: Detector, from: number, to: number, ...names: string[]): void {
  for (let ticks = from; ticks <= to; ticks += 1000) {
    for (const name of names) detector.heard(name, ticks);
    detector.echoed(ticks);
  }
}

describe('the failure detector', () => {
  test('silence makes suspect, then dead; a heartbeat makes living', () => {
    const detector = new Detector(0);
    pass(detector, 0, 5000, 'a', 'b');
    pass(detector, 6000, 8000, 'a');
    assert.equal(detector.of('b'), 'living');
    pass(detector, 9000, 9000, 'a');
    assert.equal(detector.of('b'), 'suspect');
    pass(detector, 10_000, 15_000, 'a');
    assert.equal(detector.of('b'), 'suspect');
    pass(detector, 16_000, 16_000, 'a');
    assert.equal(detector.of('b'), 'dead');
    assert.equal(detector.of('a'), 'living');
    detector.heard('b', 16_500);
    assert.equal(detector.of('b'), 'living');
  });

  test('goodbye is dead at once, until it is heard again', () => {
    const detector = new Detector(0);
    pass(detector, 0, 2000, 'a');
    detector.left('a');
    assert.equal(detector.of('a'), 'dead');
    detector.expect('a', 2000);
    assert.equal(detector.of('a'), 'dead');
    detector.heard('a', 3000);
    assert.equal(detector.of('a'), 'living');
  });

  test('one who holds something and was never heard has its ten seconds', () => {
    const detector = new Detector(50_000);
    detector.expect('a', 50_000);
    assert.equal(detector.of('a'), 'suspect');
    pass(detector, 50_000, 60_000);
    assert.equal(detector.of('a'), 'suspect');
    pass(detector, 61_000, 61_000);
    assert.equal(detector.of('a'), 'dead');
  });

  test('a peer that was cut off or frozen declares nobody dead, and stops fetching', () => {
    const detector = new Detector(0);
    pass(detector, 0, 5000, 'a', 'b');
    assert.equal(detector.cutOff(13_000), false);
    assert.equal(detector.cutOff(13_001), true);
    // An hour passes without a word of anybody's.
    assert.equal(detector.of('a'), 'living');
    assert.equal(detector.lapses, 0);
    detector.echoed(3_600_000);
    assert.equal(detector.lapses, 1, 'what it holds may be others’ by now');
    assert.equal(detector.cutOff(3_600_001), false);
    assert.equal(detector.of('a'), 'suspect');
    pass(detector, 3_601_000, 3_610_000, 'a');
    assert.equal(detector.of('b'), 'suspect');
    pass(detector, 3_611_000, 3_611_000, 'a');
    assert.equal(detector.of('a'), 'living');
    assert.equal(detector.of('b'), 'dead');
  });
});

test('whoever has not heard the engine for two seconds asks nothing more, long before others may have what it holds', () => {
  const detector = new Detector(0);
  pass(detector, 0, 5000, 'a');
  detector.answered(5250);
  assert.equal(detector.asksUntil, 7250);
  assert.equal(detector.safeUntil, 13_000, 'others count from what they heard');
  // An answer that was long on its way counts from when it was asked for.
  detector.answered(4000);
  assert.equal(detector.asksUntil, 7250);
  // The engine answers, and sends nobody the heartbeats: what is held may be others' by then.
  detector.answered(12_900);
  assert.equal(detector.asksUntil, 13_000);
});

test('the dead stay dead for a peer that is busy for seconds, unless they are heard', () => {
  const detector = new Detector(0);
  pass(detector, 0, 5000, 'a', 'b');
  pass(detector, 6000, 16_000, 'c');
  assert.equal(detector.of('a'), 'dead');
  // Busy for five seconds.
  pass(detector, 21_000, 22_000, 'b');
  assert.equal(detector.of('a'), 'suspect', 'it may be back');
  assert.equal(detector.of('b'), 'living', 'it is');
  assert.equal(detector.of('c'), 'suspect', 'of whom nothing says that it is gone');
  pass(detector, 23_000, 25_000, 'b');
  assert.equal(detector.of('a'), 'dead');
  assert.equal(detector.of('c'), 'suspect');
});

test('old heartbeats that come late prove nothing, whether they waited in a socket or in this process', () => {
  const detector = new Detector(0);
  pass(detector, 0, 5000, 'a');
  // Frozen for a minute; the heartbeat of before was still in the socket.
  detector.echoed(5900, 65_000);
  assert.ok(detector.cutOff(65_000));
  assert.equal(detector.of('a'), 'living');
  // Cut off for a minute; all heartbeats since then leave at once, and come back in one burst.
  for (let sent = 66_000; sent < 126_000; sent += 1000) detector.echoed(sent, 126_000);
  assert.ok(!detector.cutOff(126_000));
  assert.notEqual(detector.of('a'), 'dead');
});

test('a line that was lost is a lapse, though every heartbeat comes back in the end', () => {
  const detector = new Detector(0);
  pass(detector, 0, 5000, 'a');
  for (let sent = 6000; sent <= 30_000; sent += 1000) detector.echoed(sent, 30_000);
  assert.equal(detector.lapses, 1);
  assert.notEqual(detector.of('a'), 'dead');
  pass(detector, 31_000, 50_000, 'a');
  assert.equal(detector.lapses, 1);
});

describe('heartbeats', () => {
  const heartbeat: Heartbeat = {
    ...idle,
    name: 'a',
    session: '0011223344556677',
    beat: 3,
    protocol: 1,
    skein: '0.1.0',
    phase: 'working',
    exchanged: [['b', 5, 7]],
  };

  test('come back as they were', () => {
    assert.deepEqual(decodeHeartbeat(Buffer.from(encodeHeartbeat(heartbeat))), heartbeat);
  });

  test('are nothing but heartbeats', () => {
    for (const wrong of [
      { ...heartbeat, name: 'a.b' },
      { ...heartbeat, name: '*' },
      { ...heartbeat, capacity: -1 },
      { ...heartbeat, capacity: 1e9 },
      { ...heartbeat, pages: null },
      { ...heartbeat, phase: 'dead' },
      { ...heartbeat, skein: 'x'.repeat(100) },
      { ...heartbeat, exchanged: Array(1000).fill(['b', 1, 1]) },
      [],
      null,
    ])
      assert.equal(decodeHeartbeat(Buffer.from(JSON.stringify(wrong))), undefined);
    const random = randomly(3);
    for (let i = 0; i < 300; i++) assert.equal(decodeHeartbeat(random.bytes(200)), undefined);
    assert.equal(decodeHeartbeat(new Uint8Array(1e6)), undefined);
  });
});

test('a disk that fills takes capacity away in steps, and gives it back later than it took it', () => {
  const total = 1e12;
  assert.equal(partOfCapacity({ free: 1e11, total }, 1), 1);
  assert.equal(partOfCapacity({ free: 4.9e9, total }, 1), 0.5);
  assert.equal(partOfCapacity({ free: 5.1e9, total }, 0.5), 0.5);
  assert.equal(partOfCapacity({ free: 6.5e9, total }, 0.5), 1);
  assert.equal(partOfCapacity({ free: 1.9e9, total }, 0.5), 0.25);
  assert.equal(partOfCapacity({ free: 0.4e9, total }, 0.25), 0);
  assert.equal(partOfCapacity({ free: 0.55e9, total }, 0), 0);
  assert.equal(partOfCapacity({ free: 0.7e9, total }, 0), 0.25);
  // A small disk that is empty is no full one.
  assert.equal(partOfCapacity({ free: 0.9e9, total: 1e9 }, 1), 1);
  assert.equal(partOfCapacity({ free: 0.06e9, total: 1e9 }, 1), 0.5);
});
