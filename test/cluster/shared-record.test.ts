/** What the engine says of the crawl is a record of its form, or one sentence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { SharedRecord } from '../../src/cluster/shared-record.ts';
import type { WatchedBucket } from '../../src/cluster/watched-bucket.ts';

const form = z.object({ seeds: z.array(z.string().max(100)), values: z.record(z.string().max(40), z.json()) });

test('what is no such record is a sentence, also where it is nested without end', () => {
  const reading = (text: string) =>
    new SharedRecord({ get: () => ({ text, revision: 1 }) } as unknown as WatchedBucket, 'crawl', form).value;
  assert.deepEqual(reading('{"seeds":["a"],"values":{"pace":1}}'), { seeds: ['a'], values: { pace: 1 } });
  const deep = `{"seeds":[],"values":{"pace":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
  for (const text of ['', '{', 'null', '{"seeds":1}', `{"seeds":["${'x'.repeat(101)}"],"values":{}}`, deep])
    assert.throws(() => reading(text), {
      code: 'damaged',
      message: /^The crawl's crawl in the engine cannot be read \(.+\)\.$/,
    });
});

test('garbage in the place of a record leaves a peer with what it knew, and the next change goes over it', async () => {
  let text = '{"seeds":["a"],"values":{}}';
  const write = async (_: string, written: string) => {
    text = written;
    return true;
  };
  const bucket = { get: () => ({ text, revision: 1 }), write } as unknown as WatchedBucket;
  const record = new SharedRecord(bucket, 'crawl', form);
  assert.deepEqual(record.value?.seeds, ['a']);
  for (text of ['', '{', '{"seeds":1}']) assert.deepEqual(record.value?.seeds, ['a']);
  text = '{"seeds":["b"],"values":{}}';
  assert.deepEqual(record.value?.seeds, ['b']);
  text = '{}';
  await record.change(known => ({ ...known!, values: { pace: 2 } }));
  assert.equal(text, '{"seeds":["b"],"values":{"pace":2}}');
});
