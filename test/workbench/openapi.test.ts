/**
 * The published description against real answers: what every path sends fits the schema that it is said to have, has no
 * field that is not described, and no path is left out. Only the document is believed, as a stranger would.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { type Attended, attend } from '../../src/cli/services.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { freshIndex } from '../../src/home/indexing/indexing.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { routes } from '../../src/workbench/api/table.ts';
import { type Collection, chosen, makeCollection } from '../journeys/collection.ts';
import { openWeb, type Web } from '../web/web.ts';
import { firstEvent } from './first-event.ts';

interface Described {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: object }[];
  readonly responses: Record<string, { content: Record<string, { schema: object }> }>;
}

let web: Web;
let collection: Collection;
let opened: Engine;
let attended: Attended;
let running: Promise<void>;
let origin: string;
let token: string;
let described: Described;
/** Paths that were asked, with the method. */
const asked = new Set<string>();

before(async () => {
  collection = makeCollection();
  collection.pass(-3);
  const clock = { clock: collection.clock, rates: [0, 3] };
  web = await openWeb({
    seed: 5,
    servers: 2,
    pagesPerServer: 40,
    features: ['redirects', 'errors', 'robots'],
    ...clock,
  });
  await collection.crawl(web.seeds, { scope: ['*'] });
  collection.pass(2);
  await collection.refresh({ scope: ['*'], budget: '100%' });
  (await freshIndex(collection.directory, () => {})).search.close();
  const given = chosen(collection.directory, { scope: ['*'], pace: 5 });
  opened = await openHome(given, [`${web.seeds[0]}more/`], { clockShift: collection.clockShift });
  attended = await attend(opened, {
    ...{ command: 'crawl', data: collection.directory, scope: ['*'], keep: '', workbench: 0 },
  });
  running = opened.run({ ...crawlSupply(opened, 0), worthWaiting: () => true });
  const address = new URL(attended.workbench!);
  origin = address.origin;
  token = address.searchParams.get('token')!;
  described = (await (await fetch(`${origin}/api/v1/openapi.json`)).json()) as Described;
});

after(async () => {
  opened.home.stop();
  await running;
  await attended.leave();
  await attended.closeWorkbench();
  await opened.close();
  await web.close();
  collection[Symbol.dispose]();
});

/** The schema with everything that it refers to, in which a field that is not named is an error. */
function checker(schema: object): z.ZodType {
  const whole = { ...schema, $defs: described.components.schemas };
  const text = JSON.stringify(whole, (_, value) =>
    value?.type === 'object' && value.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field
async function ask(method: 'get' | 'post', path: string, given: object = {}, body?: object): Promise<any> {
  asked.add(`${method} ${path}`);
  const operation = described.paths[path]?.[method];
  assert.ok(operation, `${method} ${path} is not described`);
  const left = new URLSearchParams();
  let place = path;
  for (const [name, value] of Object.entries(given)) {
    assert.ok(
      operation.parameters?.some(each => each.name === name),
      `${path} has no parameter ${name}`,
    );
    if (path.includes(`{${name}}`)) place = place.replace(`{${name}}`, String(value));
    else left.set(name, String(value));
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${origin}/api/v1${place}?${left}`, {
    ...{ method: method.toUpperCase(), headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  const said = operation.responses[String(response.status)] ?? operation.responses['default']!;
  const checked = checker(said.content['application/json']!.schema).safeParse(answer);
  assert.ok(checked.success, `${path}, ${response.status}: ${checked.error}`);
  return answer;
}

test('the description names every route, every parameter and a schema for every answer', () => {
  const wanted = routes.map(({ method, path }) => `${method} ${path}`);
  const found = Object.entries(described.paths).flatMap(([path, each]) => Object.keys(each).map(m => `${m} ${path}`));
  assert.deepEqual(found.sort(), [...wanted, 'get /live'].sort());
  for (const [path, each] of Object.entries(described.paths)) {
    for (const operation of Object.values(each)) {
      for (const { content } of Object.values(operation.responses))
        for (const { schema } of Object.values(content)) assert.match(JSON.stringify(schema), /\$ref/, path);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
      const given = operation.parameters?.filter(each => each.in === 'path').map(each => each.name) ?? [];
      assert.deepEqual(given, named, path);
    }
  }
});

test('the checker finds what is wrong', () => {
  const sample = { time: 1, visits: 1, changed: 0, errors: 0, bytes: 2, queue: null };
  const schema = checker({ $ref: '#/components/schemas/Sample' });
  assert.ok(schema.safeParse(sample).success);
  assert.ok(!schema.safeParse({ ...sample, visits: 'many' }).success);
  assert.ok(!schema.safeParse({ ...sample, more: 1 }).success, 'a field that is not described');
  const { time: _, ...less } = sample;
  assert.ok(!schema.safeParse(less).success, 'a field that is missing');
});

test('the answers about pages and changes are as described', async () => {
  for (const order of ['found', 'newest', 'visited', 'changed']) await ask('get', '/pages', { order, limit: 200 });
  const { pages } = await ask('get', '/pages', { limit: 200 });
  for (const { id } of pages) {
    await ask('get', '/pages/{id}', { id });
    await ask('get', '/pages/{id}/why', { id });
    await ask('get', '/pages/{id}/visits', { id });
  }
  await ask('get', '/find', { url: pages[0].url });
  for (const direction of ['in', 'out']) await ask('get', '/pages/{id}/links', { id: pages[0].id, direction });
  const { changes } = await ask('get', '/changes', { noise: 1, limit: 200 });
  assert.ok(changes.length > 5);
  await ask('get', '/changes/days');
  await ask('get', '/count', { status: '2xx' });
  await ask('get', '/overview');
  await ask('get', '/subscriptions');
  assert.deepEqual(await ask('get', '/site'), { site: null });
  await ask('post', '/rules/try', {}, { leastWords: 1 });
  await ask('post', '/rules', {}, { name: 'all-of-it' });
  assert.equal((await ask('get', '/rules')).rules[0].channel, 'feed');
  await ask('post', '/rules/{name}/remove', { name: 'all-of-it' }, {});
  const changed = changes.find((change: { kind: string }) => change.kind === 'changed');
  const { visits } = await ask('get', '/pages/{id}/visits', { id: changed.page });
  const [to, from] = visits.filter((visit: { stored: boolean }) => visit.stored);
  await ask('get', '/pages/{id}/difference', { id: changed.page, from: from.id, to: to.id });
  await ask('get', '/copies/{visit}', { visit: to.id });
});

test('the answers about servers, the account, searches and machines are as described', async () => {
  const { servers } = await ask('get', '/servers');
  for (const { id } of servers) await ask('get', '/servers/{id}', { id });
  await ask('get', '/account');
  const { hits } = await ask('get', '/search', { q: 'the OR a OR page' });
  assert.ok(hits?.length > 0, 'the index finds nothing');
  await ask('post', '/search/opened', {}, { page: hits[0].page });
  while ((await ask('get', '/machines')).home === null) await new Promise(resolve => setTimeout(resolve, 100));
  assert.equal((await ask('get', '/peers')).cluster, null, 'it is of one machine');
  const now = await ask('get', '/now');
  assert.ok(now.home.machines.length > 0 && now.visits.length > 0 && now.history.length > 0);
});

test('orders are answered as described', async () => {
  const orders = [
    { kind: 'add', urls: [web.seeds[0]] },
    { kind: 'pause' },
    { kind: 'limit', pages: 1000 },
    { kind: 'server', origin: new URL(web.seeds[0]!).origin, action: 'pace', seconds: 3 },
    { kind: 'resume' },
  ];
  for (const order of orders) assert.ok((await ask('post', '/steer', {}, { order })).done.length > 5);
});

test('refusals are as described, too', async () => {
  assert.equal((await ask('post', '/steer', {}, { order: { kind: 'budget', amount: '5%' } })).code, 'refused');
  assert.equal((await ask('post', '/steer', {}, { order: { kind: 'fly' } })).code, 'bad-option');
  assert.equal((await ask('get', '/pages/{id}', { id: 999_999 })).code, 'not-found');
  assert.equal((await ask('get', '/pages', { limit: 0 })).code, 'bad-option');
});

test('a workbench of one collection says so, and starts no runs', async () => {
  assert.deepEqual(await ask('get', '/collections'), { managed: false, admin: true, collections: [] });
  for (const [path, body] of [
    ['start', { command: 'crawl' }],
    ['stop', {}],
    ['schedule', { everyHours: 1 }],
  ] as const)
    assert.equal((await ask('post', `/collections/{name}/${path}`, { name: 'any' }, body)).code, 'refused');
});

test('live numbers are as described', async () => {
  const text = await firstEvent(origin);
  const { schema } = described.paths['/live']!['get']!.responses['200']!.content['text/event-stream']!;
  const tick = JSON.parse(text.split('\n')[1]!.replace('data: ', ''));
  assert.ok(checker(schema).safeParse(tick).success, String(checker(schema).safeParse(tick).error));
  asked.add('get /live');
});

test('nothing that is described went unasked', () => {
  const all = Object.entries(described.paths).flatMap(([path, each]) => Object.keys(each).map(m => `${m} ${path}`));
  assert.deepEqual([...asked].sort(), all.sort());
});
