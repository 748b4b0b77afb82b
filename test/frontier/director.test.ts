import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { Director, domainOf, leavesOut, parseDomainWeights } from '../../src/frontier/lanes/director.ts';

const takeAll = (director: Director) => {
  const taken: number[] = [];
  for (let server = director.next(); server !== undefined; server = director.next()) taken.push(server);
  return taken;
};

test('domains are served by weight, first come first served within one', () => {
  const director = new Director(parseDomainWeights('edu=3,org=1'));
  for (const server of [1, 2, 3, 4, 5, 6, 7]) director.offer(server, 'edu');
  for (const server of [11, 12, 13, 14]) director.offer(server, 'org');
  for (const server of [21, 22]) director.offer(server, 'com');
  assert.deepEqual(takeAll(director), [1, 2, 3, 11, 21, 4, 5, 6, 12, 22, 7, 13, 14]);
});

test('a server is offered once, and again after it was taken', () => {
  const director = new Director();
  director.offer(1, 'org');
  director.offer(1, 'org');
  assert.deepEqual(takeAll(director), [1]);
  director.offer(1, 'org');
  assert.deepEqual(takeAll(director), [1]);
});

test('a domain that has nobody waiting is passed over, and comes back at the end of the ring', () => {
  const director = new Director(parseDomainWeights('a=2'));
  director.offer(1, 'a');
  for (const server of [11, 12, 13]) director.offer(server, 'b');
  assert.deepEqual([director.next(), director.next()], [1, 11]);
  for (const server of [2, 3, 4]) director.offer(server, 'a');
  assert.deepEqual(takeAll(director), [12, 2, 3, 13, 4]);
});

test('a domain with the weight 0 is left out', () => {
  const weights = parseDomainWeights('edu=2, *=0');
  assert.deepEqual(
    [leavesOut(weights, 'edu'), leavesOut(weights, 'org'), leavesOut(new Map(), 'org')],
    [false, true, false],
  );
  const director = new Director(weights);
  assert.equal(director.offer(1, 'org'), false);
  assert.equal(director.offer(2, 'edu'), true);
  assert.deepEqual(takeAll(director), [2]);
});

test('over many rounds each domain gets its share, and no server is lost or served twice', () => {
  const director = new Director(parseDomainWeights('a=5,b=2'));
  const home = (server: number) => ['a', 'b', 'c'][server % 3]!;
  const waiting = new Set<number>();
  for (let server = 0; server < 900; server++) {
    director.offer(server, home(server));
    waiting.add(server);
  }
  const served: Record<string, number> = { a: 0, b: 0, c: 0 };
  for (let turn = 0; turn < 8000; turn++) {
    const server = director.next()!;
    assert.ok(waiting.delete(server));
    served[home(server)]!++;
    director.offer(server, home(server));
    waiting.add(server);
  }
  assert.deepEqual(served, { a: 5000, b: 2000, c: 1000 });
});

test('weights are read from text, and what is wrong is named', () => {
  assert.deepEqual(
    [...parseDomainWeights(' .EDU = 3, co.uk=2,*=0 ,')],
    [
      ['edu', 3],
      ['co.uk', 2],
      ['*', 0],
    ],
  );
  assert.equal(parseDomainWeights('').size, 0);
  const wrong: [string, RegExp][] = [
    ['edu', /"edu"/],
    ['edu=3,org=x', /"org=x"/],
    ['edu=-1', /"edu=-1"/],
    ['edu=1.5', /"edu=1.5"/],
    ['edu=5000', /"edu=5000"/],
    ['=3', /"=3"/],
    ['edu=1,.edu=2', /"edu" has two weights/],
    ['edu=0,*=0', /no domain/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(
      () => parseDomainWeights(text),
      (error: unknown) => error instanceof SkeinError && error.code === 'bad-option' && message.test(error.message),
      text,
    );
  }
});

test('a host takes the turns of the longest suffix that has a weight', () => {
  const weights = parseDomainWeights('uk=2,co.uk=0,*=1');
  assert.equal(domainOf(weights, 'www.example.co.uk'), 'co.uk');
  assert.equal(domainOf(weights, 'co.uk'), 'co.uk');
  assert.equal(domainOf(weights, 'example.ac.uk'), 'uk');
  assert.equal(domainOf(weights, 'notco.uk'), 'uk');
  assert.equal(domainOf(weights, 'example.org'), 'org');
  assert.equal(domainOf(weights, '127.0.0.1'), '');
  assert.ok(leavesOut(weights, domainOf(weights, 'www.example.co.uk')));
});
