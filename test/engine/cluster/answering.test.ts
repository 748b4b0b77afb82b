/** A peer whose thread for answers takes its time to start is waited for, and not called silent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTo } from '../../../src/cluster/connection/connect.ts';
import { scatter } from '../../../src/cluster/rpc/scatter.ts';
import { questionSubject } from '../../../src/cluster/topology/layout.ts';
import { startAnswering } from '../../../src/engine/cluster/answering.ts';
import { noNats, openNats } from '../../cluster/nats.ts';
import { openLine } from '../../journeys/line.ts';
import { workplace } from '../../journeys/skein.ts';

const skip = noNats() || false;

test('who asks first waits for the thread to start', { skip }, async () => {
  await using nats = await openNats();
  await using line = await openLine(nats.servers[0]!.port);
  using place = workplace();
  const connection = await connectTo(nats.address, { name: 'test' });
  // The greetings of the thread and the engine alone take longer than the asker waits for a word.
  line.slow(500);
  const engine = `nats://127.0.0.1:${line.port}`;
  const parts = { connection, peer: 'p', engine, data: place.path, partitions: 8, held: () => [] };
  const answering = startAnswering(parts);
  await connection.flush();
  const question = { name: 'ask', args: { name: 'status', args: {}, partitions: [0] } };
  const asked = { deadline: 1500, subjectOf: questionSubject };
  const { answers, silent } = await scatter(connection, ['p'], question, asked);
  assert.deepEqual([...silent], []);
  assert.deepEqual(answers.get('p'), { parts: [] });
  await answering.close();
  await connection.close();
});
