/** The robots.txt of every server is kept, and not in memory. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Ledger } from '../../src/ledger/ledger.ts';

const SERVERS = 200;
const BYTES = 300_000;

function textOf(index: number): string {
  return `User-agent: *\nDisallow: /${index}/\n`.padEnd(BYTES, '#');
}

function held(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('robots.txt files lie in the ledger, are read when they are wanted, and survive what else is written', context => {
  const path = mkdtempSync(join(tmpdir(), 'skein-servers-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  const ledger = new Ledger(path, 'write');
  const before = held();
  for (let index = 0; index < SERVERS; index++) {
    ledger.begin();
    const server = ledger.servers.of(`http://s${index}.test`);
    server.robots = { status: 200, body: textOf(index), time: index, unreachableSince: 0 };
    ledger.servers.touch(server);
    ledger.commit();
  }
  assert.ok(held() - before < (SERVERS * BYTES) / 10, `${held() - before} bytes of memory`);
  const check = ({ servers }: Ledger) => {
    for (const index of [0, 7, SERVERS - 1]) {
      const { status, body, time, unreachableSince } = servers.of(`http://s${index}.test`).robots!;
      assert.deepEqual([status, body, time, unreachableSince], [200, textOf(index), index, 0]);
    }
  };
  check(ledger);
  ledger.begin();
  const server = ledger.servers.of('http://s7.test');
  server.latency = 5;
  ledger.servers.touch(server);
  ledger.commit();
  check(ledger);
  ledger.close();
  const again = new Ledger(path, 'write');
  check(again);
  again.begin();
  const renewed = again.servers.of('http://s7.test');
  renewed.robots = { status: 404, body: '', time: 9, unreachableSince: 0 };
  again.servers.touch(renewed);
  again.commit();
  assert.equal(again.servers.of('http://s7.test').robots?.body, '');
  again.close();
});

test('who reads beside a home that writes finds the servers that came since', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-servers-'));
  const home = new Ledger(directory, 'write');
  const reader = new Ledger(directory, 'read');
  home.begin();
  const { id } = home.servers.of('http://late.example');
  home.commit();
  assert.equal(reader.servers.byId(id).origin, 'http://late.example');
  reader.close();
  home.close();
  rmSync(directory, { recursive: true, force: true });
});
