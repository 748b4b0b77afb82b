import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partitionOf, partitionOfUrl } from '../../src/base/partition.ts';
import { fingerprint } from '../../src/base/url.ts';

test('a partition is the 64-bit fingerprint of the host modulo their number', () => {
  for (const host of ['example.org', 'example.org:8080', '127.0.0.1:40123', '[::1]:80', 'xn--bcher-kva.example']) {
    const { high, low } = fingerprint(host, { high: 0, low: 0 });
    for (const partitions of [1, 2, 3, 7, 16, 64, 1000, 4096]) {
      const whole = (BigInt(high) << 32n) | BigInt(low);
      assert.equal(partitionOf(host, partitions), Number(whole % BigInt(partitions)), `${host} of ${partitions}`);
    }
  }
});

test('the partition of a host never changes: collections are stored by it', () => {
  assert.deepEqual(
    ['example.org', 'example.org:8080', 'www.example.org', '127.0.0.1:8001'].map(host => partitionOf(host, 64)),
    [40, 51, 15, 53],
  );
});

test('all pages of a host are in one partition, whatever their scheme, and hosts are spread', () => {
  const of = (url: string) => partitionOfUrl(url, 16);
  assert.equal(of('http://example.org/a/b?c'), of('https://example.org/'));
  assert.equal(of('https://example.org:8443/x'), of('https://example.org:8443'));
  assert.equal(of('https://example.org:8443/x'), partitionOf('example.org:8443', 16));
  assert.equal(partitionOfUrl('https://example.org/', 1), 0);
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < 16_000; i++) counts[partitionOf(`host-${i}.example`, 16)]!++;
  assert.ok(
    counts.every(count => count > 850 && count < 1150),
    counts.join(' '),
  );
});
