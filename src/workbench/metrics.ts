/** The numbers in the text format of Prometheus. docs/grafana.json draws them. */
import { mergedBy } from '../questions/question.ts';
import type { Tick } from './api/tick.ts';

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly kind: 'gauge' | 'counter';
  readonly values: readonly (readonly [labels: string, value: number])[];
}

/** Of all visits ever, by how they ended. */
type Totals = readonly { outcome: string; visits: number; up: number; down: number }[];

/** Of all partitions. */
export function totalsOf(parts: readonly Totals[]): Totals {
  return mergedBy(
    parts.flat(),
    ({ outcome }) => outcome,
    (one, two) => ({
      ...one,
      ...{ visits: one.visits + two.visits, up: one.up + two.up, down: one.down + two.down },
    }),
  );
}

export function metricsOf({ sample, collection, home, outposts }: Tick, totals: Totals = []): string {
  const gauge = (name: string, help: string, value: number): Metric => ({
    name,
    help,
    kind: 'gauge',
    values: [['', value]],
  });
  const metrics: Metric[] = [
    gauge('skein_visits_per_second', 'Visits committed in the last second.', sample.visits),
    gauge('skein_changes_per_second', 'Changes found in the last second.', sample.changed),
    gauge('skein_errors_per_second', 'Failed visits in the last second.', sample.errors),
    gauge('skein_wire_bytes_per_second', 'Bytes on the wire in the last second, both ways.', sample.bytes),
    gauge('skein_pages_known', 'URLs ever seen.', collection.known),
    gauge('skein_pages_visited', 'Pages visited at least once.', collection.visited),
    gauge('skein_pages_due', 'Pages that are due now, counted up to 100000.', collection.due),
    gauge('skein_servers', 'Servers known.', collection.servers),
    gauge('skein_freshness_ratio', 'Share of the collection expected to be as last seen.', collection.freshness),
    gauge('skein_archive_bytes', 'Bytes in the archive.', collection.archiveBytes),
    gauge('skein_today_spent_bytes', 'Bytes spent today (UTC).', collection.spentToday),
    gauge('skein_today_avoided_bytes', 'Bytes avoided today (UTC).', collection.avoidedToday),
    gauge('skein_home_up', '1 while a home runs in the data directory.', home === null ? 0 : 1),
  ];
  if (home) {
    metrics.push(
      gauge('skein_queue_pages', 'Pages that wait for their turn.', home.queue),
      gauge('skein_under_way_pages', 'Pages under way.', home.underWay),
      gauge('skein_memory_bytes', 'Resident memory of the home process.', home.memory),
      gauge('skein_paused', '1 while paused.', home.state === 'paused' ? 1 : 0),
      {
        name: 'skein_run_visits_total',
        help: 'Visits of this run by outcome.',
        kind: 'counter',
        values: Object.entries(home.outcomes).map(([outcome, count]) => [`{outcome="${outcome}"}`, count] as const),
      },
      gauge(
        'skein_machines',
        'Outposts that work for this home.',
        home.machines.filter(m => m.state !== 'gone').length,
      ),
    );
  }
  metrics.push({
    name: 'skein_outpost_visits_per_second',
    help: 'Visits of the last second by outpost.',
    kind: 'gauge',
    values: Object.entries(outposts).map(([name, { visits }]) => [`{outpost="${label(name)}"}`, visits] as const),
  });
  if (totals.length > 0) metrics.push(...countersOf(totals));
  return metrics.map(written).join('');
}

/** They go on over restarts, so that rate() and increase() are right whenever somebody looks. */
function countersOf(totals: Totals): Metric[] {
  const sum = (of: 'up' | 'down') => totals.reduce((bytes, total) => bytes + total[of], 0);
  return [
    {
      name: 'skein_visits_total',
      help: 'Visits ever made to pages of the collection, by outcome.',
      kind: 'counter',
      values: totals.map(({ outcome, visits }) => [`{outcome="${label(outcome)}"}`, visits] as const),
    },
    {
      name: 'skein_wire_bytes_total',
      help: 'Bytes ever exchanged with servers, by direction.',
      kind: 'counter',
      values: [
        ['{direction="up"}', sum('up')],
        ['{direction="down"}', sum('down')],
      ],
    },
  ];
}

function label(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', ' ');
}

function written({ name, help, kind, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`).join('');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines}`;
}
