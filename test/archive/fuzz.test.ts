/** 2,000 damaged segments: reading ends, stays inside the file, and never takes damaged bytes for a page. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openArchive } from '../../src/archive/archive.ts';
import { openReader } from '../../src/archive/reader.ts';
import { segmentName } from '../../src/archive/segments.ts';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { digestLabel, parseHttp, parseRecord, payloadDigest } from '../../src/errand/warc/warc.ts';
import { type Random, randomly } from '../random.ts';
import { temporary, testParcel } from './pages.ts';

function damage(whole: Buffer, random: Random): Buffer {
  const at = random.below(whole.length);
  const some = random.below(200);
  switch (random.below(6)) {
    case 0: {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1 << random.below(8);
      return bytes;
    }
    case 1:
      return whole.subarray(0, at);
    case 2:
      return Buffer.concat([whole.subarray(0, at), whole.subarray(at + some)]);
    case 3:
      return Buffer.concat([whole.subarray(0, at), random.bytes(some), whole.subarray(at)]);
    case 4:
      return Buffer.concat([whole.subarray(0, at), Buffer.of(0x1f, 0x8b, 8, random.below(256)), whole.subarray(at)]);
    default:
      return Buffer.concat([whole.subarray(0, at), whole.subarray(at - random.below(at + 1)).subarray(0, 600)]);
  }
}

test('2,000 mutations of a segment', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory);
  archive.append(testParcel(0, 3).members);
  await archive.close();
  const whole = readFileSync(path.join(directory, segmentName(1)));
  const file = path.join(directory, segmentName(2));
  const segments = openDisk(directory);
  context.after(() => segments.close());
  const random = randomly(2026);
  let problems = 0;
  for (let round = 0; round < 2000; round++) {
    const bytes = damage(whole, random);
    writeFileSync(file, bytes);
    let at = 0;
    for await (const entry of openReader(segments, { id: 2, bytes: bytes.length }, { limit: 1 << 20 })) {
      assert.equal(entry.offset, at, `round ${round}: entries follow each other without gaps`);
      assert.ok(entry.length > 0);
      at += entry.length;
      if (entry.kind === 'problem') problems++;
      else if (entry.record.headers.get('warc-type') === 'response') {
        const { body } = parseHttp(entry.record.block)!;
        assert.equal(entry.record.headers.get('warc-payload-digest'), digestLabel(payloadDigest(body)));
      }
    }
    assert.equal(at, bytes.length, `round ${round}: up to the end`);
  }
  assert.ok(problems > 1000, `${problems} problems seen`);
});

test('10,000 damaged records: parsing never throws', () => {
  const random = randomly(7);
  const good = Buffer.from(
    'WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: 49\r\n\r\n' +
      'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nA: d\r\n\r\nbody body body\r\n\r\n',
  );
  assert.equal(parseRecord(good).kind, 'record');
  for (let round = 0; round < 10_000; round++) {
    const bytes = damage(good, random);
    const record = parseRecord(bytes);
    if (record.kind === 'record') parseHttp(record.block);
    parseHttp(bytes.subarray(random.below(bytes.length + 1)));
  }
});
