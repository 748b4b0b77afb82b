import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatencyByPlace } from '../../src/home/machines/latency-by-place.ts';

const origin = 'https://geese.example';

function measured(here: number, far: number): LatencyByPlace {
  const times = new LatencyByPlace();
  times.measured(origin, '', here);
  times.measured(origin, 'far', far);
  return times;
}

test('a server moves only to a place that is clearly faster', () => {
  assert.equal(measured(100, 80).better(origin, ['', 'far'], ''), undefined);
  assert.equal(measured(100, 70).better(origin, ['', 'far'], '')?.place, 'far');
  assert.equal(measured(100, 70).better(origin, ['', 'far'], 'far')?.place, 'far', 'and stays there');
  assert.equal(measured(100, 70).better(origin, [''], ''), undefined, 'there is no choice');
});

test('a place that was never tried gets an errand now and then', () => {
  const times = new LatencyByPlace();
  times.measured(origin, '', 100);
  const reasons = Array.from({ length: 8 }, () => times.better(origin, ['', 'far'], '')?.reason);
  assert.equal(reasons.filter(reason => reason === 'measuring').length, 2);
});

test('a slow answer once does not outweigh many', () => {
  const times = measured(100, 120);
  times.measured(origin, '', 200);
  assert.equal(times.of(origin).get(''), 120);
});
