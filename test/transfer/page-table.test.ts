/** Two ends that remember the same pages, and what happens when they do not. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { encodeErrand } from '../../src/errand/codec/errand-codec.ts';
import type { Errand } from '../../src/errand/errand.ts';
import type { Known } from '../../src/errand/known.ts';
import { nextKnown, type PageLesson, PageTables } from '../../src/transfer/wire/page-table.ts';
import { packErrand, unpackErrand } from '../../src/transfer/wire/parcel-format.ts';
import { plainErrand } from '../errand/plain-errand.ts';
import { randomly } from '../random.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-tables-'));
after(() => rmSync(directory, { recursive: true }));

const origin = 'https://geese.example';
const random = randomly(3);

const pages: Known[] = Array.from({ length: 300 }, (_, n) => ({
  ...{ url: `${origin}/page-${n}`, role: 'page', depth: 2, hops: 0, tries: 0 },
  etag: `"${random.below(1e9)}"`,
  facts: random.bytes(200),
}));

function errandOf(id: string, named: readonly Known[]): Errand {
  const robots = { status: 200, body: 'User-agent: *\n', unreachableSince: 0, time: 1.7e12 };
  return plainErrand(id, origin, { pages: named, server: { robots }, deadline: 1.8e12 });
}

const seen = (n: number, more: Partial<PageLesson> = {}): PageLesson => ({
  ...{ url: pages[n]!.url, depth: 2, outcome: 'same', status: 304 },
  cost: { up: 1, down: 1, cause: 'not-modified', ms: 1 },
  ...more,
});

/** Sends an errand from one end to the other and ends it at both. */
function round(
  ends: { home: PageTables; outpost: PageTables },
  errand: Errand,
  lessons: readonly PageLesson[],
): number {
  const table = ends.home.of(origin);
  const sorted = { ...errand, pages: table.sort(errand.pages) };
  const bytes = packErrand(sorted, table);
  assert.deepEqual(Buffer.from(encodeErrand(unpackErrand(bytes, ends.outpost))), Buffer.from(encodeErrand(sorted)));
  for (const end of [ends.home, ends.outpost]) {
    end.begin(sorted);
    end.learn(errand.id, lessons);
    end.end(errand.id);
  }
  return bytes.length;
}

test('the second errand says nothing that the first has said', () => {
  const ends = { home: new PageTables(join(directory, 'a')), outpost: new PageTables(join(directory, 'b')) };
  const changed = seen(7, { outcome: 'fetched', status: 200, etag: '"new"', facts: random.bytes(200) });
  const first = round(ends, errandOf('k3-1', pages), [seen(1), changed]);
  const known = pages.map((page, n) => (n === 7 ? nextKnown(page, changed) : page));
  const second = round(ends, errandOf('k3-2', known.toReversed()), []);
  assert.ok(first > 30_000 && second < 120, `${first}, then ${second} bytes`);
  // What home decided otherwise is said, and only that.
  const third = round(
    ends,
    errandOf(
      'k3-3',
      known.map((page, n) => (n === 9 ? { ...page, tries: 3 } : page)),
    ),
    [],
  );
  assert.ok(third < 500, `${third} bytes`);
});

test('both ends find what they remembered after a restart; ends that differ start anew', () => {
  const open = (name: string) => new PageTables(join(directory, name));
  const ends = { home: open('c'), outpost: open('d') };
  round(ends, errandOf('k4-1', pages), []);
  ends.home.save();
  ends.outpost.save();
  const later = { home: open('c'), outpost: open('d') };
  assert.ok(round(later, errandOf('k4-2', pages), []) < 120);
  const lost = { home: later.home, outpost: open('empty') };
  assert.throws(() => round(lost, errandOf('k4-3', pages), []), { code: 'not-found' });
  lost.home.reset(origin);
  round(lost, errandOf('k4-3', pages), []);
  // Home lost its memory instead: an errand against an empty table empties the other one.
  const forgotten = { home: open('empty-too'), outpost: later.outpost };
  round(forgotten, errandOf('k4-4', pages), []);
  assert.ok(round(forgotten, errandOf('k4-5', pages), []) < 120);
});
