import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WARCParser } from 'warcio';
import { readMember } from '../../src/errand/warc/gzip.ts';
import {
  archivedHead,
  digestLabel,
  newRecordId,
  parseHttp,
  parseRecord,
  payloadDigest,
  recordMember,
  type WarcRecord,
} from '../../src/errand/warc/warc.ts';

const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const body = Buffer.from('<p>grüße</p>');
const url = 'https://example.org/a?b=c';
const common = { time, url, address: '192.0.2.7' };
const digest = payloadDigest(body);

const revisit: WarcRecord = {
  ...common,
  kind: 'revisit',
  id: newRecordId(),
  profile: 'server-not-modified',
  head: Buffer.from('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'),
  digest,
  refersTo: { url: 'https://example.org/first', time: time - 1000 },
};
const records: readonly WarcRecord[] = [
  { kind: 'warcinfo', id: newRecordId(), time, filename: 'a.warc.gz', lines: new Map([['software', 'Skein']]) },
  revisit,
  { ...common, kind: 'metadata', id: newRecordId(), concurrentTo: revisit.id, lines: new Map([['via', 'seed']]) },
];

function parsed(record: WarcRecord) {
  const member = readMember(recordMember(record, 'small'), 1 << 20);
  assert.equal(member.kind, 'member');
  const result = parseRecord(member.kind === 'member' ? member.data : Buffer.alloc(0));
  assert.equal(result.kind, 'record');
  return result as Extract<typeof result, { kind: 'record' }>;
}

test('every kind of record comes back as it went in', () => {
  for (const record of records) {
    const { headers, version } = parsed(record);
    assert.equal(version, '1.1');
    assert.equal(headers.get('warc-type'), record.kind);
    assert.equal(headers.get('warc-record-id'), record.id);
    assert.equal(headers.get('warc-date'), '2026-01-02T03:04:05.678Z');
  }
  assert.equal(parsed(records[2]!).headers.get('warc-concurrent-to'), revisit.id);
  const { headers, block } = parsed(revisit);
  assert.equal(headers.get('warc-profile'), 'http://netpreserve.org/warc/1.1/revisit/server-not-modified');
  assert.equal(headers.get('warc-refers-to-target-uri'), 'https://example.org/first');
  assert.equal(headers.get('warc-refers-to-date'), '2026-01-02T03:04:04.678Z');
  assert.equal(headers.get('warc-payload-digest'), digestLabel(digest));
  assert.equal(headers.get('warc-ip-address'), '192.0.2.7');
  assert.equal(parseHttp(block)!.status, 304);
});

test('warcio reads the same records', async () => {
  const file = Buffer.concat(records.map((record, i) => recordMember(record, i % 2 === 0 ? 'stored' : 'fast')));
  const seen: string[] = [];
  for await (const record of new WARCParser([file])) {
    seen.push(record.warcType);
    if (record.warcType !== 'warcinfo') assert.equal(record.warcTargetURI, url);
  }
  assert.deepEqual(
    seen,
    records.map(record => record.kind),
  );
});

test('header lines that no longer hold are renamed, and nothing else', () => {
  const kept = (text: string, length: number) =>
    Buffer.from(archivedHead(Buffer.from(text, 'latin1'), length)).toString('latin1');
  const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: \xff\r\n\r\n';
  assert.equal(kept(plain, 5), plain);
  assert.equal(
    kept(plain, 4),
    'HTTP/1.1 200 OK\r\nX-Archive-Orig-Content-Length: 5\r\nA: \xff\r\nContent-Length: 4\r\n\r\n',
  );
  assert.equal(
    kept('HTTP/1.1 200 OK\r\ntransfer-encoding : gzip, chunked\r\nB: 1\r\n\r\n', 9),
    'HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding : gzip, chunked\r\nB: 1\r\n\r\n',
  );
  const notModified = 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n';
  assert.equal(kept(notModified, 0), notModified);
  const mention = 'HTTP/1.1 200 OK\r\nVary: Transfer-Encoding: x\r\n\r\n';
  assert.equal(kept(mention, 0), mention);
});

test('a value with line breaks cannot forge a header', () => {
  const { headers } = parsed({ ...revisit, url: 'http://a/\r\nWARC-Type: warcinfo' });
  assert.equal(headers.get('warc-type'), 'revisit');
  assert.equal(headers.get('warc-target-uri'), 'http://a/ WARC-Type: warcinfo');
});

test('what is not exactly one record is a problem', () => {
  const good = 'WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n';
  assert.equal(parseRecord(Buffer.from(good)).kind, 'record');
  for (const bad of [
    '',
    'hello',
    good.replace('WARC/1.1', 'WURC/1.1'),
    good.replace(': 3', ': 4'),
    good.replace(': 3', ': 2'),
    good.replace(': 3', ': -3'),
    good.replace(': 3', ': 99999999999'),
    good.replace('Content-Length', 'Content-Size'),
    `${good}x`,
    good.slice(0, 30),
  ]) {
    assert.equal(parseRecord(Buffer.from(bad)).kind, 'problem', JSON.stringify(bad));
  }
  assert.equal(parseHttp(Buffer.from('no http here\r\n\r\n')), undefined);
  assert.equal(parseHttp(Buffer.from('HTTP/1.1 200')), undefined);
});
