/** What must hold when the process is killed at any moment, and when the disk is full. Done for real. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openArchive } from '../../src/archive/archive.ts';
import type { StoredPlace } from '../../src/archive/read.ts';
import { listSegments, segmentName } from '../../src/archive/segments.ts';
import { randomly } from '../random.ts';
import { temporary, testPage, testParcel, verified } from './pages.ts';

const writer = fileURLToPath(new URL('./writer.ts', import.meta.url));
const SEGMENT_BYTES = 60_000;

interface Commit {
  readonly end: { segment: number; length: number };
  readonly from: number;
  readonly places: readonly StoredPlace[];
}

/** Lets a writer run until it has committed `commits` times and a little longer, then kills it. */
async function killedAfter(directory: string, commits: number, milliseconds: number): Promise<void> {
  const child = spawn(process.execPath, [writer, directory, String(SEGMENT_BYTES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    assert.match(line, /^\{/);
    if (++seen >= commits) break;
  }
  await sleep(milliseconds); // into the middle of what follows
  child.kill('SIGKILL');
  await exit;
}

test('kill -9 at random moments: all that was committed is there, and nothing torn', async context => {
  const directory = temporary(context);
  const random = randomly(11);
  let committed: Commit[] = [];
  for (let round = 0; round < 8; round++) {
    await killedAfter(directory, 1 + random.below(6), random.below(30));
    const lines = readFileSync(path.join(directory, 'commits'), 'utf8').split('\n');
    committed = lines.slice(0, -1).map(line => JSON.parse(line) as Commit);
    const archive = openArchive(directory, { segmentBytes: SEGMENT_BYTES });
    archive.recover(committed.at(-1)!.end);
    for (const { from, places } of committed) {
      for (const [i, place] of places.entries()) {
        const stored = await archive.read(place);
        assert.equal(stored.url, testPage(from + i).url);
      }
    }
    await archive.close();
    const { problems, digests } = await verified(directory);
    assert.deepEqual(problems, []);
    assert.equal(
      digests,
      committed.reduce((sum, { places }) => sum + places.length, 0),
      'nothing uncommitted is left',
    );
  }
  assert.ok(committed.at(-1)!.end.segment > 1, 'the rounds crossed segments');
});

/** A file system of its own, or undefined (with a notice) where we may not mount one. */
function smallDisk(context: TestContext, kilobytes: number): string | undefined {
  const directory = mkdtempSync(path.join(tmpdir(), 'skein-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    rmSync(directory, { recursive: true });
    context.skip('may not mount a tmpfs here');
    return undefined;
  }
  context.after(() => {
    execFileSync('umount', [directory], { stdio: 'ignore' });
    rmSync(directory, { recursive: true });
  });
  return directory;
}

test('a full disk: a clear error, nothing half-written, and on it goes when there is room', async context => {
  const disk = smallDisk(context, 400);
  if (disk === undefined) return;
  const directory = path.join(disk, 'archive');
  const ballast = path.join(disk, 'ballast');
  const archive = openArchive(directory, { segmentBytes: 100_000 });
  writeFileSync(ballast, Buffer.alloc(150_000));
  let pages = 0;
  const fill = () => {
    for (;;) {
      const { members, places } = testParcel(pages, pages + 10);
      archive.appendParcel(
        members,
        places.map(place => ({ place })),
      );
      pages += 10;
    }
  };
  assert.throws(fill, { name: 'SkeinError', code: 'disk-full' });
  const end = archive.ends(0).at(-1)!;
  assert.throws(fill, { code: 'disk-full' }, 'and again: still full');
  assert.deepEqual(archive.ends(0).at(-1)!, end, 'a failed write moves nothing');
  assert.equal(listSegments(directory).at(-1)!.bytes, end.length, 'and leaves nothing behind');
  assert.deepEqual((await verified(directory)).problems, []);
  rmSync(ballast);
  const before = pages;
  assert.throws(fill, { code: 'disk-full' });
  assert.ok(pages > before, 'the same process goes on once there is room');
  const last = archive.ends(0).at(-1)!;
  await archive.close();
  const again = openArchive(directory);
  again.recover(last);
  await again.close();
  const check = await verified(directory);
  assert.deepEqual(check.problems, []);
  assert.equal(check.digests, pages);
});

test('a disk that fills up exactly where a new segment begins leaves no empty file', context => {
  const disk = smallDisk(context, 64);
  if (disk === undefined) return;
  const directory = path.join(disk, 'archive');
  const archive = openArchive(directory, { segmentBytes: 1000 });
  const { members } = testParcel(0, 1);
  archive.append(members);
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(path.join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
  assert.throws(() => archive.append(members), { code: 'disk-full' });
  assert.deepEqual(
    listSegments(directory).map(segment => segmentName(segment.id)),
    [segmentName(1)],
  );
  rmSync(path.join(disk, 'ballast'));
  assert.equal(archive.append(members).segment, 2);
  return archive.close();
});
