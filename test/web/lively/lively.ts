/**
 * A site whose pages carry prices, rates, headlines, status words, versions, dates, counters, clocks, advertisements,
 * tokens and edit waves at every rhythm, served over HTTP on loopback by a clock that a test moves. All of it is made
 * from one seed, and it knows of every answer what in it was news, what noise, and what many pages share.
 *
 *   await using site = await openLively({ seed: 3, clock });
 *   crawl(site.seeds) …
 *   site.beginRound(); clock …; refresh …
 *   site.served(url)      what the round's requests for it were answered with, oldest first
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/base/clock.ts';
import { picture } from '../image.ts';
import { defaults } from '../options.ts';
import { hashText } from '../random.ts';
import { answer, type Desk } from '../server.ts';
import { type Entry, type Hit, html as htmlType, type Reply, reply, type Site } from '../site.ts';
import type { PagePlan } from './plan.ts';
import { type LivelyPage, Script, type Serving } from './script.ts';

export interface Lively extends AsyncDisposable {
  readonly origin: string;
  readonly seeds: readonly string[];
  readonly pages: readonly LivelyPage[];
  /** Answers from now on belong to a new round. */
  beginRound(): void;
  served(url: string): readonly Serving[];
}

interface Given {
  readonly seed: number;
  readonly clock: Clock;
  /** Other pages than those of the seed. */
  readonly plans?: readonly PagePlan[];
}

export async function openLively({ plans, ...given }: Given): Promise<Lively> {
  const server = createServer({ keepAliveTimeout: 30_000 });
  const origin = await new Promise<string>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  const options = { ...defaults, ...given };
  const site: Site = {
    ...{ options, server: 0, origin, origins: [origin], start: given.clock.now() },
    design: { count: 0, time: 0 },
  };
  const script = new Script(given.seed, site.start, plans);
  const entries = [front(script.plans), robots(), ...script.plans.map(plan => entryOf(plan, script))];
  const pictures: Entry = {
    ...{ path: '/i/*', expect: 'page', found: 'embedded' },
    reply: ({ path }) => reply(200, picture(hashText(path)), { 'content-type': 'image/png' }),
  };
  const desk: Desk = {
    ...{ site, exact: new Map(entries.map(entry => [entry.path, entry])), prefixes: [pictures] },
    ...{ counts: new Map(), fault: () => undefined, record: () => {}, open: 0 },
  };
  server.on('request', (request, response) => void answer(desk, request, response));
  return {
    origin,
    seeds: [`${origin}/`],
    pages: script.pages(origin),
    beginRound: () => script.beginRound(),
    served: url => script.served(url.slice(origin.length)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function robots(): Entry {
  return {
    ...{ path: '/robots.txt', expect: 'page', found: 'unlinked' },
    reply: () => reply(200, 'User-agent: *\nDisallow:\n', { 'content-type': 'text/plain' }),
  };
}

/** Links to every page, and never changes. */
function front(plans: readonly PagePlan[]): Entry {
  const links = plans.map(({ path, title }) => `<li><a href="${path}">${title}</a></li>`);
  const body = `<!DOCTYPE html><title>Front</title><main><h1>Front</h1><ul>${links.join('\n')}</ul></main>`;
  return { path: '/', expect: 'page', found: 'links', reply: () => reply(200, body) };
}

function entryOf(plan: PagePlan, script: Script): Entry {
  const steady = script.isSteady(plan);
  return {
    ...{ path: plan.path, expect: 'page', found: 'links' },
    reply({ time, count }: Hit): Reply {
      const body = Buffer.from(script.answer({ plan, time, count }));
      const version = hashText(body.toString('latin1'));
      if (!steady) return { status: 200, headers: htmlType, body };
      return { status: 200, headers: htmlType, body, state: { version, modified: time, validators: 'etag' } };
    },
  };
}
