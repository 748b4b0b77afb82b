/** What a hostile outpost says of itself, and how it stands at the door: none of it ends, stalls or dresses up home. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { readToken } from '../../src/transfer/entry/token.ts';
import { dial } from '../../src/transfer/websocket.ts';
import { collected, pagesOf } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';
import { openTarget } from './home.ts';
import { type Lie, pageOf, startLiar, visitOf } from './liar.ts';

const givesUp: Lie = ({ id }, { line }) => void line.send({ kind: 'give-up', errand: id, why: 'no' });

test('servers that are none are refused at the door, and home goes on', async () => {
  await using web = await openWeb({ seed: 3, servers: 1, pagesPerServer: 5 });
  await using home = await openTarget(web.seeds);
  for (const servers of [['exa mple'], ['http://['], ['']]) {
    await assert.rejects(startLiar('odd', home.token(), givesUp, { servers }), /bad-frame|not a domain/);
  }
  await using _ = await home.honest('honest');
  await home.ended;
  assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
});

test('an outpost that claims the server and does nothing keeps it from nobody', async () => {
  await using web = await openWeb({ seed: 4, servers: 1, pagesPerServer: 30 });
  await using home = await openTarget(web.seeds, { threads: 1 });
  await using _ = await startLiar('greedy', home.token(), givesUp, { servers: ['127.0.0.1'] });
  await home.ended;
  assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
});

test('no escape of an outpost reaches the terminal or the ledger', async t => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u202e';
  const printed: string[] = [];
  t.mock.method(console, 'error', (text: string) => printed.push(text));
  await using web = await openWeb({ seed: 5, servers: 1, pagesPerServer: 5 });
  await using home = await openTarget(web.seeds);
  let told = 0;
  const lie: Lie = (errand, { line, parcel }) => {
    const trouble = `${evil}status`;
    line.send({ kind: 'status', news: { state: 'working', trouble, room: 4096, outposts: [] } });
    if (told++ === 0) return void line.send({ kind: 'give-up', errand: errand.id, why: `${evil}why` });
    const visit = visitOf(errand.pages[0]!);
    const by = `${evil}child`;
    const send = line.send.bind(line);
    line.send = (frame, patience) => send(frame.kind === 'parcel' ? { ...frame, by } : frame, patience);
    parcel({ visits: [{ visit, page: pageOf('<title>x</title>') }] });
  };
  const liar = await startLiar(`liar${evil}`, home.token(), lie);
  for (let i = 0; i < 2; i++) assert.notEqual(await liar.forgotten(), '');
  await liar[Symbol.asyncDispose]();
  await home.problems();
  assert.ok(
    printed.some(text => text.includes('why')) && printed.some(text => text.includes('status')),
    String(printed),
  );
  const ledger = openLedger(home.directory);
  const rows = ledger['database'].prepare('SELECT outpost FROM visits').all();
  ledger.close();
  assert.ok(rows.some(row => String(row['outpost']).includes('child')));
  for (const text of [...printed, ...rows.map(row => String(row['outpost']))]) {
    assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u202e]/, JSON.stringify(text));
  }
});

test('sockets that say nothing keep nobody out', async () => {
  await using web = await openWeb({ seed: 6, servers: 1, pagesPerServer: 5 });
  await using home = await openTarget(web.seeds);
  const { host, port, fingerprint } = readToken(home.token());
  const silent: Socket[] = [];
  try {
    for (let i = 0; i < 80; i++) silent.push(connect(port, host).on('error', () => {}));
    for (let i = 0; i < 40; i++)
      silent.push(connectTls({ host, port, rejectUnauthorized: false }).on('error', () => {}));
    for (let i = 0; i < 40; i++) void dial({ host, port, fingerprint }).catch(() => {}); // greeted, and says nothing
    await using _ = await home.honest('honest');
    await home.ended;
    assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
  } finally {
    for (const socket of silent) socket.destroy();
  }
});
