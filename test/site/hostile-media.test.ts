/** Files that were made to take all memory, all time, or what is none of theirs: they have no metadata, and the others have. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { MediaMetadata } from '../../src/site/records/media-reader.ts';
import { folder } from './site-here.ts';

const pages = '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n';
const good = `%PDF-1.4\n${pages}4 0 obj<</Title(Annual report)>>endobj\ntrailer<</Root 1 0 R/Info 4 0 R>>\n`;

/** A table of objects that takes no room on the disk, and so many megabytes when it is read. */
function bomb(megabytes: number): Buffer {
  const head = `%PDF-1.5\n${pages}`;
  const zeros = deflateSync(Buffer.alloc(megabytes * 2 ** 20), { level: 1 });
  const table = `/Type/XRef/Size ${megabytes * 2 ** 18}/W[1 2 1]/Root 1 0 R/Filter/FlateDecode/Length ${zeros.length}`;
  const end = `\nendstream endobj\nstartxref\n${head.length}\n%%EOF\n`;
  return Buffer.concat([Buffer.from(`${head}3 0 obj<<${table}>>stream\n`), zeros, Buffer.from(end)]);
}

/** A TIFF whose directory of 65,535 entries leads to itself. */
function circle(): Buffer {
  const bytes = Buffer.alloc(100_000);
  bytes.write('II*\0\x08\0\0\0', 'latin1');
  bytes.writeUInt16LE(0xffff, 8);
  for (let at = 10; at + 12 < bytes.length; at += 12) {
    bytes.writeUInt16LE(0x8769, at);
    bytes.writeUInt16LE(4, at + 2);
    bytes.writeUInt32LE(1, at + 4);
    bytes.writeUInt32LE(8, at + 8);
  }
  return bytes;
}

/** A tag of 256 MB by its own account, of frames that are as long each. */
function endlessTag(): Buffer {
  const frames = Array.from({ length: 2000 }, () => Buffer.from('TIT2\x7f\x7f\x7f\x7f\0\0', 'latin1'));
  return Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), ...frames]);
}

function opened(context: TestContext, limits: { seconds: number; megabytes: number }) {
  const media = new MediaMetadata(limits);
  context.after(() => media.close());
  const directory = folder(context);
  return (name: string, bytes: string | Uint8Array) => {
    writeFileSync(join(directory, name), bytes);
    return media.of(join(directory, name), ['title']);
  };
}

for (const [what, limits] of [
  ['memory', { seconds: 60, megabytes: 96 }],
  ['time', { seconds: 1, megabytes: 4096 }],
] as const) {
  test(`a file that takes more ${what} than it may has no metadata, and those behind it have theirs`, async context => {
    const read = opened(context, limits);
    const [bombed, ...others] = await Promise.all([
      read('bomb.pdf', bomb(600)),
      read('a.pdf', good),
      read('b.pdf', good),
    ]);
    assert.deepEqual(bombed, {});
    // A machine that is busy may be slower than a second, which is no fault of theirs.
    if (what === 'memory') for (const other of others) assert.deepEqual(other, { title: 'Annual report' });
    assert.deepEqual(await opened(context, { seconds: 60, megabytes: 512 })('c.pdf', good), { title: 'Annual report' });
  });
}

test('circles, tags without end and nonsense end, and nobody else notices', async context => {
  const read = opened(context, { seconds: 30, megabytes: 256 });
  const begun = process.memoryUsage.rss();
  await Promise.all([
    ...[
      read('circle.tif', circle()),
      read('circle.jpg', Buffer.concat([Buffer.from('ffd8ffe1fffe', 'hex'), circle()])),
    ],
    ...[read('tag.mp3', endlessTag()), read('tag.flac', Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(5000, 4)]))],
    ...[
      read('nothing.png', ''),
      read('huge.wav', Buffer.from('RIFF\xff\xff\xff\xffWAVELIST\xff\xff\xff\xff', 'latin1')),
    ],
  ]);
  assert.deepEqual(await read('good.pdf', good), { title: 'Annual report' });
  assert.ok(process.memoryUsage.rss() - begun < 100e6, 'what it took was not taken here');
});
