/**
 * What every format of export must do, whatever it writes: the same lines are run over all of them, on a collection that
 * a real crawl has made.
 */
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import type { Exporter, Wanted } from '../../src/export/exporter.ts';

export interface Collected {
  readonly data: string;
  /** Addresses of the HTML pages in it, and one of them. */
  readonly pages: readonly string[];
}

export function everything(data: string): Wanted {
  return {
    ...{ data, filter: () => true, matches: () => true, since: 0, until: Number.MAX_SAFE_INTEGER, body: true },
    ...{ filename: 'all', software: 'Skein/test' },
  };
}

export async function bytesOf(exporter: Exporter, wanted: Wanted): Promise<{ bytes: Buffer; count: number }> {
  const out = new PassThrough({ highWaterMark: 64 });
  const parts: Buffer[] = [];
  out.on('data', (part: Buffer) => parts.push(part));
  const count = await exporter.write(wanted, out);
  assert.ok(!out.writableEnded, 'whoever opened it ends it');
  out.end();
  return { bytes: Buffer.concat(parts), count };
}

export function checkExporter(exporter: Exporter, collected: () => Collected): void {
  test(`${exporter.name}: all that is wanted is counted and written, to a receiver that is slow`, async () => {
    const { data, pages } = collected();
    const { bytes, count } = await bytesOf(exporter, everything(data));
    assert.ok(count >= pages.length, `${count} of ${pages.length}`);
    if (exporter.pages) assert.equal(count, pages.length);
    assert.ok(bytes.length > 0);
  });

  test(`${exporter.name}: what does not match is not in it`, async () => {
    const { data, pages } = collected();
    const chosen = pages[1]!;
    const matches = (url: string) => url === chosen;
    const wanted = { ...everything(data), matches, filter: ({ url }: { url: string }) => matches(url) };
    assert.equal((await bytesOf(exporter, wanted)).count, 1);
    const none = { ...everything(data), matches: () => false, filter: () => false };
    assert.equal((await bytesOf(exporter, none)).count, 0);
  });

  test(`${exporter.name}: a receiver that fails ends it with its error`, async () => {
    const failing = new Writable({
      highWaterMark: 1,
      write: (_bytes, _encoding, done) => done(new Error('the receiver is full')),
    });
    await assert.rejects(exporter.write(everything(collected().data), failing), /the receiver is full/);
  });

  if (exporter.name.startsWith('warc')) return;
  test(`${exporter.name}: two exports of the same are the same to the byte`, async () => {
    const wanted = everything(collected().data);
    const [one, two] = [await bytesOf(exporter, wanted), await bytesOf(exporter, wanted)];
    assert.ok(one.bytes.equals(two.bytes));
  });
}
