/**
 * Orders made up field by field, given to a running home through the real HTTP API: each is obeyed or refused with a
 * sentence, none ends the home or leaves it in a state that it cannot tell, and the collection can be opened again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { attend } from '../../src/cli/services.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { chosen, makeCollection } from '../journeys/collection.ts';
import { openWeb } from '../web/web.ts';
import { CASES, type Draw, drawing, SEED } from './fuzz-cases.ts';

/** Each goes through two sockets and a commit. */
const ORDERS = Math.ceil(CASES / 10);
const WILD = [4, 12, 60];

/** Bodies of POST /steer. None resumes or stops: the home is paused, so that nothing that is added is ever asked for. */
function bodyOf(draw: Draw, origin: string): string {
  const { text, number, list, random, maybe } = draw;
  const url = () => text(`${origin}/p/1.html`);
  const order = random.pick<Record<string, unknown>>([
    { kind: 'add', urls: list([url()], url) },
    { kind: text('pause') },
    { kind: 'pace', seconds: number(1) },
    { kind: 'limit', pages: maybe(number(10)) ?? null },
    { kind: 'budget', amount: text('100MB') },
    { kind: 'filters', scope: text('*'), keep: text('text/*') },
    {
      kind: 'server',
      origin: text(origin),
      action: text(random.pick(['pause', 'resume', 'exclude', 'include', 'pace'])),
      seconds: maybe(number(1)),
    },
    { kind: random.pick(['retry', 'ping', 'unmask']), url: url() },
  ]);
  const whole = JSON.stringify(random.below(20) === 0 ? order : { order });
  if (random.below(20) === 0) return whole.replace('{', '{"__proto__":{"polluted":true},');
  return random.below(20) === 0 ? whole.slice(0, random.below(whole.length)) : whole;
}

test('orders through the API', async context => {
  context.diagnostic(`seed ${SEED}, ${ORDERS} orders`);
  using collection = makeCollection();
  await using web = await openWeb({ seed: 5, servers: 1, pagesPerServer: 20 });
  await collection.crawl(web.seeds);
  const opened = await openHome(chosen(collection.directory), [], { clockShift: collection.clockShift });
  const attended = await attend(opened, {
    ...{ command: 'crawl', data: collection.directory, scope: ['*'], keep: '', workbench: 0 },
  });
  opened.home.pause();
  const running = opened.run({ ...crawlSupply(opened, 0), worthWaiting: () => true });
  const { origin, searchParams } = new URL(attended.workbench!);
  const headers = { authorization: `Bearer ${searchParams.get('token')}`, 'content-type': 'application/json' };
  const statuses = new Map<number, number>();
  const before = web.log.length;
  try {
    for (let i = 0; i < ORDERS; i++) {
      const body = bodyOf(drawing(SEED * 1_000_003 + i, WILD[i % WILD.length]), web.origins[0]!);
      const response = await fetch(`${origin}/api/v1/steer`, { method: 'POST', headers, body });
      const answer = (await response.json()) as { done?: string; error?: string; state?: { settings: object } };
      const at = `case ${i} of seed ${SEED}: ${body} → ${response.status} ${JSON.stringify(answer).slice(0, 300)}`;
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      assert.ok(response.status === 200 || (response.status >= 400 && response.status < 500), at);
      assert.ok((answer.done ?? answer.error ?? '').length > 0, at);
      assert.doesNotMatch(answer.done ?? answer.error!, /should not happen|is not a function/, at);
      assert.equal(opened.home.state, 'paused', at);
    }
    context.diagnostic([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '));
    assert.ok((statuses.get(200) ?? 0) > 0.3 * ORDERS && statuses.size > 1);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.equal(web.log.length, before, 'a paused home asks for nothing');
  } finally {
    opened.home.stop();
    await running;
    await attended.leave();
    await attended.closeWorkbench();
    await opened.close();
  }
  const again = await openHome(chosen(collection.directory), [], { clockShift: collection.clockShift });
  await again.close();
});
