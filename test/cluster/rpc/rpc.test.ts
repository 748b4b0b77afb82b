/** Questions to several peers over a real server: parts, deadlines, and those who do not answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../../../src/base/errors.ts';
import { connectTo } from '../../../src/cluster/connection/connect.ts';
import { AnswerDesk, answerQuestions, Streamed, WorkTeller } from '../../../src/cluster/rpc/answering.ts';
import { decodeFrame, decodeQuestion, encodeFrame } from '../../../src/cluster/rpc/frames.ts';
import { scatter } from '../../../src/cluster/rpc/scatter.ts';
import { askForStream } from '../../../src/cluster/rpc/stream.ts';
import { askSubject, questionSubject } from '../../../src/cluster/topology/layout.ts';
import { randomly } from '../../random.ts';
import { noNats, openNats } from '../nats.ts';

const skip = noNats() || false;

async function connections(count: number) {
  const nats = await openNats();
  const open = await Promise.all(
    Array.from({ length: count }, (_, i) => connectTo(nats.address, { name: `peer-${i}` })),
  );
  return {
    open,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(open.map(connection => connection.close()));
      await nats[Symbol.asyncDispose]();
    },
  };
}

/** Subscriptions are with the server. */
const settled = (open: readonly NatsConnection[]) => Promise.all(open.map(connection => connection.flush()));

describe('questions to all peers', { skip }, () => {
  test('a long stream comes whole, as fast as it is read, and who works on an answer is waited for', async () => {
    await using cluster = await connections(2);
    const [asker, other] = cluster.open;
    let sent = 0;
    const chunks = async function* () {
      for (let i = 0; i < 60; i++, sent++) yield Buffer.alloc(300_000, i);
    };
    const ready = Promise.withResolvers<void>();
    const desk = new AnswerDesk(other!, {
      long: () => new Streamed(chunks(), () => 60),
      broken: () => {
        throw new SkeinError('damaged', 'The ledger is damaged.');
      },
      slow: () => ready.promise.then(() => 'done'),
    });
    const teller = new WorkTeller(other!);
    other!.subscribe(questionSubject('p'), {
      callback: (_, { data, reply }) => {
        teller.waiting.add(reply!);
        void desk.take({ data, reply: reply! }).then(() => teller.waiting.delete(reply!));
      },
    });
    await settled(cluster.open);
    const from = { peer: 'p', subject: questionSubject('p') };
    const stream: AsyncGenerator<Uint8Array, unknown> = askForStream(asker!, from, { name: 'long', args: null });
    const seen = new Map<number, number>();
    let end: unknown;
    for (let first = true; ; first = false) {
      const { done, value } = await stream.next();
      if (done === true) {
        end = value;
        break;
      }
      // Nobody sends more than what may be on its way, while nothing is read.
      if (first) await asker!.flush().then(() => assert.ok(sent < 20, `${sent} chunks were sent unread`));
      assert.equal(value.at(-1), value[0]);
      seen.set(value[0]!, (seen.get(value[0]!) ?? 0) + value.length);
    }
    assert.equal(end, 60);
    assert.deepEqual(
      [...seen.values()],
      Array.from({ length: 60 }, () => 300_000),
    );
    const failing = askForStream(asker!, from, { name: 'broken', args: null });
    await assert.rejects(failing.next(), { message: /is incomplete: The ledger is damaged\./ });
    await assert.rejects(askForStream(asker!, { ...from, subject: 'skein.q.x' }, { name: 'x', args: 0 }).next(), {
      message: /It is not in the cluster\./,
    });
    const slow = scatter(asker!, ['p'], { name: 'slow', args: null }, { deadline: 1500, subjectOf: questionSubject });
    setTimeout(ready.resolve, 2200);
    assert.deepEqual([...(await slow).answers], [['p', 'done']]);
  });

  test('are answered by each, in parts when they are long', async () => {
    await using cluster = await connections(4);
    const [asker, ...others] = cluster.open;
    const names = others.map((_, i) => `p${i}`);
    for (const [i, other] of others.entries())
      answerQuestions(other, names[i]!, {
        pages: args => ({ from: names[i], args }),
        long: args => 'é'.repeat((args as { bytes: number }).bytes / 2),
        nothing: () => undefined,
      });
    await settled(cluster.open);
    const pages = await scatter(asker!, names, { name: 'pages', args: { most: 3 } });
    assert.deepEqual([...pages.answers.keys()].sort(), names);
    assert.deepEqual(pages.answers.get('p1'), { from: 'p1', args: { most: 3 } });
    assert.equal(pages.silent.size, 0);
    const long = await scatter(asker!, names, { name: 'long', args: { bytes: 6_000_000 } }, { deadline: 30_000 });
    assert.deepEqual([...long.silent], []);
    for (const name of names) assert.equal((long.answers.get(name) as string).length, 3_000_000);
    const nothing = await scatter(asker!, names, { name: 'nothing', args: null });
    assert.equal(nothing.answers.get('p0'), null);
    assert.equal((await scatter(asker!, [], { name: 'pages', args: 0 })).answers.size, 0);
  });

  test('those who do not answer are named with the reason, and the others count', async () => {
    await using cluster = await connections(2);
    const [asker, other] = cluster.open;
    answerQuestions(other!, 'good', { q: () => 1 });
    answerQuestions(other!, 'slow', { q: () => new Promise(() => {}) });
    answerQuestions(other!, 'wrong', {
      q: () => {
        throw new SkeinError('damaged', 'The ledger is damaged.');
      },
    });
    answerQuestions(other!, 'broken', {
      q: () => {
        throw new Error('a stack that is nobody else’s business');
      },
    });
    answerQuestions(other!, 'old', {});
    other!.subscribe(askSubject('liar'), { callback: (_, message) => void message.respond('nonsense') });
    other!.subscribe(askSubject('gap'), {
      callback: (_, message) => void message.respond(encodeFrame({ kind: 1, number: 1, bytes: Buffer.from('1') })),
    });
    other!.subscribe(askSubject('no-json'), {
      callback: (_, message) => void message.respond(encodeFrame({ kind: 1, number: 0, bytes: Buffer.from('{') })),
    });
    await settled(cluster.open);
    const names = ['good', 'slow', 'wrong', 'broken', 'old', 'liar', 'gap', 'no-json', 'absent'];
    const { answers, silent } = await scatter(asker!, names, { name: 'q', args: {} }, { deadline: 300 });
    assert.deepEqual([...answers], [['good', 1]]);
    assert.deepEqual(Object.fromEntries(silent), {
      slow: 'It did not answer within 0.3 s.',
      wrong: 'The ledger is damaged.',
      broken: 'It failed.',
      old: 'It does not know this question: it may run another Skein.',
      liar: 'A part of its answer was lost.',
      gap: 'A part of its answer was lost.',
      'no-json': 'Its answer cannot be read.',
      absent: 'It is not in the cluster.',
    });
  });

  test('answers are bounded, for the asker and for the one who is asked', async () => {
    await using cluster = await connections(2);
    const [asker, other] = cluster.open;
    answerQuestions(other!, 'a', { q: () => 'x'.repeat(2_000_000), huge: () => 'x'.repeat(64_000_001) });
    await settled(cluster.open);
    const { silent } = await scatter(asker!, ['a'], { name: 'q', args: 0 }, { most: 1_000_000 });
    assert.match(silent.get('a')!, /together are too long/);
    const huge = await scatter(asker!, ['a'], { name: 'huge', args: 0 });
    assert.match(huge.silent.get('a')!, /longer than 64 MB/);
    await assert.rejects(scatter(asker!, ['a'], { name: 'q', args: 'x'.repeat(300_000) }), { code: 'bad-query' });
    // One that floods without a question is not heard.
    const stopped = scatter(asker!, ['nobody-yet', 'a'], { name: 'q', args: 0 }, { signal: AbortSignal.timeout(1) });
    assert.equal((await stopped).answers.size + (await stopped).silent.size, 2);
  });

  test('a peer that is asked too much at once says so', async () => {
    await using cluster = await connections(2);
    const [asker, other] = cluster.open;
    const gate = Promise.withResolvers<number>();
    answerQuestions(other!, 'a', { q: () => gate.promise });
    await settled(cluster.open);
    const asked = Array.from({ length: 40 }, () =>
      scatter(asker!, ['a'], { name: 'q', args: 0 }, { deadline: 20_000 }),
    );
    const early = await Promise.any(asked);
    assert.equal(early.silent.get('a'), 'It is busy.');
    gate.resolve(7);
    const all = await Promise.all(asked);
    assert.equal(all.filter(({ answers }) => answers.get('a') === 7).length, 32);
  });
});

test('what is no question and no part of an answer is not taken for one', () => {
  const random = randomly(9);
  for (let i = 0; i < 300; i++) {
    assert.equal(decodeQuestion(random.bytes(60)), undefined);
    decodeFrame(random.bytes(10));
  }
  for (const wrong of ['null', '[]', '{"name":"a b"}', '{"name":7}', `{"name":"${'x'.repeat(100)}"}`])
    assert.equal(decodeQuestion(Buffer.from(wrong)), undefined);
  const frame = { kind: 1, number: 70_000, bytes: new Uint8Array([1, 2, 3]) };
  assert.deepEqual({ ...decodeFrame(encodeFrame(frame)), bytes: [1, 2, 3] }, { ...frame, bytes: [1, 2, 3] });
  assert.equal(decodeFrame(new Uint8Array(4)), undefined);
  assert.equal(decodeFrame(Uint8Array.of(9, 0, 0, 0, 0)), undefined);
});
