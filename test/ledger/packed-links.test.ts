/** The links of a page in one value: they come out as they went in, however they are changed, and counts follow them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LINK_IMAGE } from '../../src/errand/visit.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import {
  eachLink,
  eachTarget,
  eachTargetOfAll,
  type OutLink,
  packedWithImages,
  packLinks,
  traceOf,
  unpackLinks,
  withoutTargets,
} from '../../src/ledger/links/packed-links.ts';
import { type Random, randomly } from '../random.ts';

const CASES = 400;
/** More than are counted at once. */
const PAGES = 250;

/** Numbers that take from one byte to five. */
function someTarget(random: Random): number {
  return random.below(4) === 0
    ? 2 ** 32 - 1 - random.below(3)
    : random.below(random.pick([2, 128, 129, 16_385, 2 ** 31]));
}

function someLinks(random: Random, target = () => someTarget(random)) {
  const links: OutLink[] = Array.from({ length: random.below(30) }, () => ({
    target: target(),
    anchor: random.garbage(20).replaceAll('\n', ' ').toWellFormed(),
    nofollow: random.below(3) === 0,
  }));
  const packed = {
    count: links.length,
    targets: links.map(link => link.target),
    flags: Uint8Array.from(links, link => (link.nofollow ? 1 : 0) | (random.below(4) === 0 ? LINK_IMAGE : 0)),
    anchors: Buffer.from(links.map(link => link.anchor).join('\n')),
  };
  return { links, packed };
}

const targetsOf = (bytes: Uint8Array): number[] => {
  const targets: number[] = [];
  eachTarget(bytes, target => void targets.push(target));
  return targets;
};

test('links come out as they went in, each way of reading them', () => {
  const random = randomly(3);
  for (let i = 0; i < CASES; i++) {
    const { links, packed } = someLinks(random);
    const bytes = packLinks(packed).slice();
    assert.deepEqual(unpackLinks(bytes), links);
    assert.deepEqual(targetsOf(bytes), packed.targets);
    const flags: number[] = [];
    eachLink(bytes, (_, flag) => void flags.push(flag));
    assert.deepEqual(flags, [...packed.flags]);
    for (const target of packed.targets) assert.ok(Buffer.from(bytes).includes(traceOf(target)), `${target}`);
  }
});

test('the links of many pages are read as one value, and one that is cut is refused', () => {
  const random = randomly(6);
  const all = Array.from({ length: CASES }, () => someLinks(random).packed);
  const bytes = Buffer.concat(all.map(packed => packLinks(packed).slice()));
  const read = (from: Uint8Array) => {
    const targets: number[] = [];
    eachTargetOfAll(from, target => void targets.push(target));
    return targets;
  };
  assert.deepEqual(
    read(bytes),
    all.flatMap(({ targets }) => targets),
  );
  assert.throws(() => read(Uint8Array.of(40, 1, 2)), /exceeds its size/);
});

test('images are added once, and links are taken out, without a change to the others', () => {
  const random = randomly(4);
  for (let i = 0; i < CASES; i++) {
    const { links, packed } = someLinks(random);
    const bytes = packLinks(packed).slice();
    const images = Array.from({ length: random.below(6) }, () => (random.below(3) === 0 ? 0 : someTarget(random)));
    const { bytes: shown, added } = packedWithImages(bytes, images);
    assert.deepEqual(
      added,
      [...new Set(images)].filter(image => image !== 0 && !packed.targets.includes(image)),
    );
    assert.deepEqual(unpackLinks(shown).slice(0, links.length), links);
    assert.deepEqual(targetsOf(shown), [...packed.targets, ...added]);
    assert.deepEqual(packedWithImages(shown, images).added, [], 'they are there already');

    const gone = new Set(packed.targets.filter(() => random.below(3) === 0));
    const { bytes: left, removed } = withoutTargets(bytes, gone);
    assert.deepEqual(
      unpackLinks(left),
      links.filter(({ target }) => !gone.has(target)),
    );
    assert.deepEqual(
      removed,
      packed.targets.filter(target => gone.has(target)),
    );
  }
});

test('after kill -9 at any moment links to pages are counted as they are committed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-links-'));
  const random = randomly(5);
  /** What is committed, by page; 0 stands for a link to no page. */
  let durable = new Map<number, number[]>();
  const foreign = new Map<number, number>();
  try {
    for (let life = 0; life < 12; life++) {
      const ledger = new Ledger(directory, 'write');
      for (let page = 1; page <= PAGES; page++) {
        const links = [...durable.values()].flat().filter(target => target === page).length;
        assert.equal(ledger.links.backward.of(page), links + (foreign.get(page) ?? 0), `page ${page} in life ${life}`);
      }
      let written = new Map(durable);
      for (let i = random.below(300); i >= 0; i--) {
        ledger.begin();
        const page = 1 + random.below(PAGES);
        const { packed } = someLinks(random, () => random.below(PAGES + 1));
        ledger.links.put(page, packed, true);
        written.set(page, packed.targets);
        if (random.below(5) > 0) continue;
        ledger.links.backward.addForeign(page, 1);
        ledger.commit();
        foreign.set(page, (foreign.get(page) ?? 0) + 1);
        durable = written;
        written = new Map(durable);
      }
      // An orderly end commits what is open; a kill leaves the counters as they were, and a mark that they are not right.
      const killed = random.below(3) > 0;
      if (killed) ledger.abandon();
      else durable = written;
      ledger.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
