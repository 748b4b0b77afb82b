/** Where errands go: a site's own outpost, the fastest place, the least loaded; and what becomes of those of the lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Errand } from '../../src/errand/errand.ts';
import { Dispatch } from '../../src/home/machines/dispatch.ts';
import { plainErrand, plainPage } from '../errand/plain-errand.ts';
import { movableClock } from '../web/web.ts';
import { carrier } from './plain-carrier.ts';

function errand(id: string, origin: string, pages = 10): Errand {
  return plainErrand(id, origin, {
    pages: Array.from({ length: pages }, (_, i) => plainPage(`${origin}/${i}`)),
    deadline: 1000,
  });
}

const place = (origin: string) => ({ origin, address: '', spread: 1, paced: false });

test('a site’s own outpost gets its servers before anyone else, and no others', () => {
  const dispatch = new Dispatch();
  const own = carrier('own', { terms: { servers: ['example.org'], stands: true } });
  dispatch.join(carrier('any'));
  dispatch.join(own);
  assert.equal(dispatch.choose(place('https://www.example.org'))!.to, own);
  assert.equal(dispatch.placements.get('https://www.example.org')!.reason, 'own');
  assert.equal(dispatch.choose(place('https://other.net'))!.to.name, 'any');
});

test('errands are shared by load, and a server stays where it is', () => {
  const dispatch = new Dispatch();
  dispatch.join(carrier('a'));
  dispatch.join(carrier('b'));
  const first = dispatch.choose(place('https://one.org'))!.to;
  dispatch.send(errand('1', 'https://one.org'), first);
  const second = dispatch.choose(place('https://two.org'))!.to;
  assert.notEqual(second, first);
  dispatch.send(errand('2', 'https://two.org', 500), second);
  assert.equal(dispatch.choose(place('https://two.org'))!.to, second);
});

test('a thread is begun with when the others have much to do', () => {
  const dispatch = new Dispatch();
  const awake = carrier('thread-1', { remote: false });
  const asleep = carrier('thread-2', { remote: false, asleep: true });
  dispatch.join(awake);
  dispatch.join(asleep);
  const shared = { ...place('https://one.org'), spread: 2 };
  dispatch.send(errand('1', 'https://one.org', 40), dispatch.choose(shared)!.to);
  assert.equal(dispatch.choose(shared)!.to, awake);
  dispatch.send(errand('2', 'https://one.org', 40), awake);
  assert.equal(dispatch.choose(shared)!.to, asleep);
});

test('who comes first is not given all new pages: what it can hold of them grows as they come back', () => {
  const dispatch = new Dispatch();
  const early = carrier('early', { room: 8192 });
  dispatch.join(early);
  dispatch.send({ ...errand('1', 'https://one.org', 512), kind: 'explore' }, early);
  assert.equal(dispatch.hasRoom(), false);
  const late = carrier('late', { room: 8192 });
  dispatch.join(late);
  assert.equal(dispatch.choose(place('https://two.org'))!.to, late);
  dispatch.send({ ...errand('2', 'https://two.org', 512), kind: 'explore' }, late);
  dispatch.returned(early, '1', { visits: 100, done: false });
  assert.equal(dispatch.choose(place('https://three.org'))!.to, early);
});

test('a paced server takes room for what it asks in a second, until its errand ends, however many pages it has', () => {
  const dispatch = new Dispatch();
  const thread = carrier('thread', { room: 512, remote: false });
  dispatch.join(thread);
  const paced = (id: number, pace: number) => {
    const plain = errand(String(id), `https://s${id}.org`, 20);
    return { ...plain, server: { ...plain.server, pace } };
  };
  for (let id = 0; id < 500; id++) dispatch.send(paced(id, 1000), thread);
  assert.equal(dispatch.hasRoom(), true, 'each is one request a second');
  dispatch.send(paced(500, 100), thread);
  dispatch.send(paced(501, 60_000), thread);
  assert.equal(dispatch.hasRoom(), true, 'ten requests a second, and hardly any');
  dispatch.send(paced(502, 1000), thread);
  assert.equal(dispatch.hasRoom(), false);
  dispatch.returned(thread, '0', { visits: 19, done: false });
  assert.equal(dispatch.hasRoom(), false, 'the one page left keeps its pace');
  dispatch.returned(thread, '0', { visits: 1, done: true });
  assert.equal(dispatch.hasRoom(), true);
});

test('a server moves to the place that reaches it clearly faster, and the reason can be told', () => {
  const dispatch = new Dispatch();
  dispatch.join(carrier('far'));
  dispatch.join(carrier('near'));
  const origin = 'https://example.org';
  for (let turn = 0; turn < 8; turn++) {
    const { to } = dispatch.choose(place(origin))!;
    dispatch.latencies.measured(origin, to.name, to.name === 'near' ? 10 : 90);
  }
  const { to } = dispatch.choose(place(origin))!;
  assert.equal(to.name, 'near');
  assert.equal(dispatch.placements.get(origin)!.reason, 'fastest');
});

test('nothing is sent to whoever is away, full, or gave everything up', () => {
  const dispatch = new Dispatch();
  dispatch.join(carrier('away', { room: 0 }));
  const weak = carrier('weak');
  dispatch.join(weak);
  assert.equal(dispatch.choose(place('https://a.org'))!.to, weak);
  dispatch.failed(weak);
  assert.equal(dispatch.hasRoom(), false);
  assert.equal(dispatch.choose(place('https://a.org')), undefined);
});

test('errands that are given up together are one failure, and a failure later lengthens the rest', async () => {
  const clock = movableClock();
  const dispatch = new Dispatch(clock);
  const weak = carrier('weak');
  dispatch.join(weak);
  for (let i = 0; i < 5; i++) dispatch.failed(weak);
  await clock.advance(1001);
  assert.equal(dispatch.hasRoom(), true, 'five at once mean a rest of one second');
  dispatch.failed(weak);
  await clock.advance(1001);
  assert.equal(dispatch.hasRoom(), false, 'another means two');
  await clock.advance(1001);
  assert.equal(dispatch.hasRoom(), true);
});

test('the errands of the lost come back once, those of an earlier run wait for their outpost', () => {
  const dispatch = new Dispatch();
  const a = carrier('a');
  dispatch.join(a);
  dispatch.send(errand('1', 'https://one.org'), a);
  assert.deepEqual(
    dispatch.leave(a).map(each => each.id),
    ['1'],
  );
  assert.deepEqual(dispatch.leave(a), []);
  dispatch.expect('b', errand('2', 'https://two.org'), 4);
  assert.equal(dispatch.posts.idle, false);
  const b = carrier('b');
  dispatch.join(b);
  assert.equal(dispatch.posts.sent(b, '2')?.sequence, 4);
  assert.deepEqual(dispatch.leave(undefined), []);
  assert.deepEqual(dispatch.overdue(10_000_000), [{ from: b, errand: '2' }]);
});

test('a server that nothing paces is shared by no more outposts than it may have connections', () => {
  const shared = new Set<string>();
  for (const origin of ['https://one.org', 'https://two.org', 'https://three.org', 'https://four.org']) {
    const dispatch = new Dispatch();
    for (let i = 0; i < 8; i++) dispatch.join(carrier(`thread-${i}`));
    assert.equal(dispatch.choose({ origin, address: '', spread: 99, paced: false })!.among, 8);
    const names = new Set<string>();
    for (let i = 0; i < 8; i++) {
      const choice = dispatch.choose({ origin, address: '', spread: 3, paced: false })!;
      assert.equal(choice.among, 3);
      dispatch.send(errand(`${i}`, origin, 1), choice.to);
      names.add(choice.to.name);
    }
    assert.equal(names.size, 3);
    shared.add([...names].join());
  }
  assert.ok(shared.size > 1, 'not all servers by the same');
});

test('servers of one address go to one machine, which is known before the first of them leaves', () => {
  const found = new Map<string, string>();
  const dispatch = new Dispatch(undefined, { of: origin => found.get(origin) });
  for (const name of ['a', 'b', 'c']) dispatch.join(carrier(name, { room: 20 }));
  const paced = (origin: string) => ({ origin, address: '', spread: 1, paced: true });
  assert.equal(dispatch.choose(paced('https://s0.org')), undefined, 'its address is being looked up');
  const names = new Set<string>();
  let waits = 0;
  for (let i = 0; i < 40; i++) {
    const origin = `https://s${i}.org`;
    found.set(origin, '127.0.0.9');
    const choice = dispatch.choose(paced(origin));
    if (!choice) {
      waits++;
      continue;
    }
    names.add(choice.to.name);
    dispatch.send(errand(String(i), origin, 1), choice.to);
  }
  assert.equal(names.size, 1);
  assert.equal(waits, 20, 'what has no room there waits for it, though others are free');
  found.set('https://elsewhere.org', '127.0.0.10');
  assert.ok(dispatch.choose(paced('https://elsewhere.org')));
});

test('an outpost that was not invited for a server cannot claim it', () => {
  const dispatch = new Dispatch();
  const claims = carrier('claims', { terms: { servers: ['example.org'], stands: false } });
  const any = carrier('any');
  dispatch.join(claims);
  dispatch.join(any);
  dispatch.send(errand('1', 'https://one.example.org'), dispatch.choose(place('https://one.example.org'))!.to);
  dispatch.send(errand('2', 'https://two.example.org'), dispatch.choose(place('https://two.example.org'))!.to);
  assert.deepEqual([dispatch.posts.errandsOf('any').length, dispatch.posts.errandsOf('claims').length], [1, 1]);
  assert.equal(dispatch.choose(place('https://other.net'))!.to, any, 'what its owner names limits it');
});

test('a machine that brings nothing for minutes loses its errands, and keeps no server from others', () => {
  const clock = movableClock(1_000_000);
  const dispatch = new Dispatch(clock);
  const silent = carrier('silent', { terms: { servers: ['example.org'], stands: true } });
  const any = carrier('any');
  dispatch.join(silent);
  dispatch.join(any);
  const origin = 'https://example.org';
  dispatch.send({ ...errand('1', origin), deadline: 1e12 }, dispatch.choose(place(origin))!.to);
  clock.advance(170_000);
  assert.deepEqual(dispatch.overdue(clock.now()), []);
  dispatch.returned(silent, '1', { visits: 0, done: false });
  clock.advance(170_000);
  assert.deepEqual(dispatch.overdue(clock.now()), []);
  clock.advance(20_000);
  assert.deepEqual(
    dispatch.overdue(clock.now()).map(({ errand: id }) => id),
    ['1'],
  );
  dispatch.returned(silent, '1');
  assert.equal(dispatch.choose(place(origin))!.to, any);
});

/** An errand of a server that is visited once in `pace` milliseconds. */
function pacedErrand(id: string, origin: string, pace = 1000): Errand {
  const plain = errand(id, origin);
  return { ...plain, deadline: 1e15, server: { ...plain.server, pace }, limits: { ...plain.limits, follow: 5000 } };
}

test('who has several paced servers gives them back when a machine has nothing to do, and each keeps its pace', () => {
  const clock = movableClock(1_000_000);
  const dispatch = new Dispatch(clock);
  let recalls = 0;
  const first = carrier('first', { recall: () => recalls++ });
  const origins = ['https://one.org', 'https://two.org', 'https://three.org', 'https://four.org'];
  dispatch.join(first);
  for (const origin of origins) dispatch.send(pacedErrand(origin, origin), dispatch.choose(place(origin))!.to);
  clock.advance(5000);
  dispatch.rebalance();
  assert.equal(recalls, 0, 'nobody else is there');
  dispatch.join(carrier('second'));
  dispatch.rebalance();
  assert.equal(recalls, 0, 'it has only just come');
  clock.advance(1000);
  dispatch.rebalance();
  dispatch.rebalance();
  assert.equal(recalls, 1, 'asked once');
  for (const origin of origins) dispatch.returned(first, origin);
  assert.equal(dispatch.choose(place(origins[0]!)), undefined, 'its last request was just now');
  clock.advance(1000);
  for (const origin of origins) dispatch.send(pacedErrand(origin, origin), dispatch.choose(place(origin))!.to);
  assert.deepEqual([dispatch.posts.errandsOf('first').length, dispatch.posts.errandsOf('second').length], [2, 2]);
});

test('a machine that may take none of them is not worked for again and again', () => {
  const clock = movableClock(1_000_000);
  const dispatch = new Dispatch(clock);
  let recalls = 0;
  const first = carrier('first', { recall: () => recalls++ });
  dispatch.join(first);
  for (const origin of ['https://one.org', 'https://two.org']) dispatch.send(pacedErrand(origin, origin), first);
  dispatch.join(carrier('bound', { terms: { servers: ['example.org'], stands: false } }));
  clock.advance(60_000);
  dispatch.rebalance();
  assert.equal(recalls, 0);
  dispatch.join(carrier('free'));
  for (let minute = 0; minute < 5; minute++) {
    clock.advance(60_000);
    dispatch.rebalance();
  }
  assert.equal(recalls, 1, 'what was given back for it went elsewhere');
});

test('what an outpost had whose line was closed goes to another, and waits for it where there is no other', () => {
  const clock = movableClock(1_000_000);
  const dispatch = new Dispatch(clock);
  const presence = { connected: false, deserted: 0 };
  const killed = { ...carrier('killed', { room: 0 }), presence };
  dispatch.join(killed);
  dispatch.send(pacedErrand('1', 'https://one.org'), killed);
  presence.deserted = 5000;
  assert.deepEqual(dispatch.overdue(clock.now()), []);
  dispatch.join(carrier('other'));
  presence.deserted = 800;
  assert.deepEqual(dispatch.overdue(clock.now()), [], 'it may live, and dial again');
  presence.deserted = 1001;
  assert.deepEqual(dispatch.overdue(clock.now()), [{ from: killed, errand: '1' }]);
});
