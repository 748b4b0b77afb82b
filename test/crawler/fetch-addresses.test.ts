/** Which addresses are public: the edges of every special range, and IPv4 hidden inside IPv6. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublic } from '../../src/crawler/fetch/addresses.ts';

/** First and last address of each range. */
const closed: readonly (readonly [string, string, string])[] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private 10', '10.0.0.0', '10.255.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private 172', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation 1', '192.0.2.0', '192.0.2.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private 192', '192.168.0.0', '192.168.255.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation 2', '198.51.100.0', '198.51.100.255'],
  ['documentation 3', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.255'],
  ['unspecified and compatible', '::', '::ffff:ffff'],
  ['IPv6 loopback', '::1', '0:0:0:0:0:0:0:1'],
  ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['NAT64 beyond its prefix', '64:ff9b::1:0:0', '64:ff9b:0:ffff:ffff:ffff:808:808'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['protocol assignments 6', '2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation 6', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4 around a public address', '2002:808:808::1', '2002:0808:0808::'],
  ['documentation 6, new', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff::'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['with a zone', 'fe80::1%eth0', '2606:4700::1111%1'],
];

const open = [
  // The neighbours of the ranges above.
  ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0'],
  ...['192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
  ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255', '8.8.8.8'],
  ...['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2003::', '3ffe:ffff::', '3fff:1000::'],
  ...['2606:4700:4700::1111', '2a00:1450:4001:82a::200e', '::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::8.8.8.8'],
];

test('the edges of every range that is not public', () => {
  for (const [name, first, last] of closed) {
    assert.equal(isPublic(first), false, `${name}: ${first}`);
    assert.equal(isPublic(last), false, `${name}: ${last}`);
  }
});

test('their neighbours are public', () => {
  for (const address of open) assert.equal(isPublic(address), true, address);
});

test('IPv4 inside IPv6 is judged as IPv4, however it is written', () => {
  for (const [, first, last] of closed) {
    if (first.includes(':')) continue;
    for (const address of [first, last]) {
      const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
      const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
      for (const prefix of ['::ffff:', '0:0:0:0:0:FFFF:', '64:ff9b::', '64:ff9b:0:0:0:0:']) {
        assert.equal(isPublic(prefix + address), false, prefix + address);
        assert.equal(isPublic(prefix + groups), false, prefix + groups);
      }
    }
  }
});

test('what is no address is not public', () => {
  for (const text of [
    '',
    'localhost',
    '8.8.8',
    '8.8.8.8.8',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '[2606::1]',
    '1::2::3',
  ])
    assert.equal(isPublic(text), false, text);
});
