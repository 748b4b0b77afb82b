/** Metrics as Prometheus reads them, and the dashboard that draws them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Tick } from '../../src/workbench/api/tick.ts';
import { metricsOf } from '../../src/workbench/metrics.ts';

const outcomes = { fetched: 3, same: 2, moved: 0, gone: 0, refused: 0, failed: 1 };
const tick: Tick = {
  sample: { time: 1, visits: 2.5, changed: 1, errors: 0, bytes: 900, queue: 4 },
  ...{ visits: [], left: 0, outposts: { 'far "one"\n\\': { visits: 2, bytes: 700 } } },
  home: {
    ...{
      time: 1,
      started: 0,
      command: 'crawl',
      state: 'working',
      pages: 3,
      outcomes,
      rate: 2,
      bytesDown: 1,
      bytesUp: 1,
    },
    ...{ queue: 4, underWay: 2, servers: 1, errors: 1, atWork: [], known: 9, memory: 1e8, machines: [] },
    settings: { pace: 1, limit: null, budget: '', scope: '', keep: '', excluded: [] },
  },
  collection: {
    ...{ known: 9, visited: 5, servers: 1, due: 1, dueCapped: false, freshness: 0.98, freshnessAim: 0.97 },
    ...{ spentToday: 1, avoidedToday: 2, archiveBytes: 3, time: 1 },
  },
};

/** Name and value of every line; throws where Prometheus would. */
function read(text: string): Map<string, { kind: string; values: number[] }> {
  const found = new Map<string, { kind: string; values: number[] }>();
  for (const line of text.trimEnd().split('\n')) {
    const type = /^# TYPE (\w+) (gauge|counter)$/.exec(line);
    if (type) found.set(type[1]!, { kind: type[2]!, values: [] });
    if (line.startsWith('#')) continue;
    const value = /^([a-z_]+)(?:\{[a-z]+="(?:[^"\\\n]|\\.)*"\})? (-?[\d.e+-]+)$/.exec(line);
    assert.ok(value, `cannot be read: ${line}`);
    assert.ok(found.has(value[1]!), `${value[1]} has no type before it`);
    found.get(value[1]!)!.values.push(Number(value[2]));
  }
  return found;
}

test('every metric has a type, a value and a unit in its name', () => {
  const units =
    /_(per_second|bytes|ratio|total|pages)$|^skein_(pages_(known|visited|due)|servers|machines|home_up|paused)$/;
  for (const [name, { kind, values }] of read(metricsOf(tick))) {
    assert.match(name, units, name);
    assert.ok(values.length > 0 && values.every(Number.isFinite), name);
    assert.equal(kind === 'counter', name.endsWith('_total'), name);
  }
});

test('without a home the metrics of the collection remain', () => {
  const metrics = read(metricsOf({ ...tick, home: null, outposts: {} }));
  assert.deepEqual(metrics.get('skein_home_up')?.values, [0]);
  assert.deepEqual(metrics.get('skein_pages_known')?.values, [9]);
  assert.equal(metrics.has('skein_queue_pages'), false);
});

test('the dashboard asks only for metrics that exist, each once, in panels that do not overlap', () => {
  const file = join(import.meta.dirname, '..', '..', 'docs', 'grafana.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as {
    panels: { gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] }[];
  };
  const metrics = read(metricsOf(tick, [{ outcome: 'fetched', visits: 3, up: 1, down: 2 }]));
  const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => /skein_\w+/.exec(expr)![0]));
  assert.ok(asked.length > 10);
  for (const name of asked) assert.ok(metrics.has(name), name);
  // Gauges of one second, looked at every fifteen, miss most of what happens: rates are drawn from counters.
  const rates = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => /rate\((\w+)/.exec(expr)?.[1] ?? []));
  assert.deepEqual(rates, ['skein_visits_total', 'skein_wire_bytes_total']);
  for (const name of rates) assert.equal(metrics.get(name)?.kind, 'counter');
  assert.equal(new Set(asked).size, asked.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
});
