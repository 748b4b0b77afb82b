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
import { hashOf, hashText } from '../random.ts';
import { answer, type Desk } from '../server.ts';
import { type Entry, type Hit, html as htmlType, type Reply, reply, type Site } from '../site.ts';
import type { Look, Part, Place } from './part.ts';
import { type PagePlan, planOf } from './plan.ts';

/** One answer, and what is true of it. */
export interface Serving {
  /** By the clock of the site. */
  readonly time: number;
  /** What a reader must be told of: it changed when this did. */
  readonly news: string;
  /** By name, what it shares with the other pages of its section. */
  readonly shared: ReadonlyMap<string, string>;
  /** What a stored copy of this answer holds. */
  readonly seen: readonly string[];
}

export interface LivelyPage {
  readonly url: string;
  /** What is on it of its own, for messages. */
  readonly names: readonly string[];
  /** How many parts it has that differ at every look. */
  readonly noises: number;
}

export interface Lively extends AsyncDisposable {
  readonly origin: string;
  readonly seeds: readonly string[];
  readonly pages: readonly LivelyPage[];
  /** Answers from now on belong to a new round. */
  beginRound(): void;
  served(url: string): readonly Serving[];
}

interface State {
  readonly start: number;
  turn: number;
  round: number;
  readonly served: Map<string, Serving[]>;
}

export async function openLively(given: { readonly seed: number; readonly clock: Clock }): Promise<Lively> {
  const server = createServer({ keepAliveTimeout: 30_000 });
  const origin = await new Promise<string>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  const options = { ...defaults, ...given };
  const site: Site = {
    ...{ options, server: 0, origin, origins: [origin], start: given.clock.now() },
    design: { count: 0, time: 0 },
  };
  const state: State = { start: site.start, turn: 0, round: 0, served: new Map() };
  const plans = planOf(given.seed);
  const entries = [front(plans), robots(), ...plans.map(plan => entryOf(plan, given.seed, state))];
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
    pages: plans.map(({ path, parts }) => ({
      url: origin + path,
      names: parts.filter(({ truth }) => truth !== 'shared').map(({ name }) => name),
      noises: parts.filter(({ truth, noisy }) => truth === 'noise' || noisy).length,
    })),
    beginRound() {
      state.round++;
      state.served.clear();
    },
    served: url => state.served.get(url.slice(origin.length)) ?? [],
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

function entryOf(plan: PagePlan, seed: number, state: State): Entry {
  // Half of those that could have a true ETag have one.
  const steady = plan.parts.every(({ truth }) => truth !== 'noise') && hashOf(seed, hashText(plan.path)) % 2 === 0;
  return {
    ...{ path: plan.path, expect: 'page', found: 'links' },
    reply(hit: Hit): Reply {
      const known = state.served.get(plan.path) ?? [];
      const look: Look = {
        ...{ time: hit.time - state.start, turn: state.turn++, count: hit.count },
        ...{ round: state.round, again: known.length },
      };
      state.served.set(plan.path, [...known, servingOf(plan, look, hit.time)]);
      const body = Buffer.from(pageOf(plan, look));
      const version = hashText(body.toString('latin1'));
      if (!steady) return { status: 200, headers: htmlType, body };
      return { status: 200, headers: htmlType, body, state: { version, modified: hit.time, validators: 'etag' } };
    },
  };
}

function servingOf({ parts }: PagePlan, look: Look, time: number): Serving {
  const own = parts.filter(({ truth }) => truth === 'news');
  const shared = parts.filter(part => part.truth === 'shared' || part.shared);
  return {
    time,
    news: own.map(part => part.news?.(look) ?? part.html(look)).join('\n'),
    shared: new Map(shared.map(part => [part.name, part.shared?.(look) ?? part.html(look)])),
    seen: parts.filter(({ seen }) => seen).map(part => part.held?.(look) ?? part.html(look)),
  };
}

function pageOf({ title, parts, prose }: PagePlan, look: Look): string {
  const at = (place: Place): Part[] => parts.filter(part => part.place === place);
  const all = (place: Place): string =>
    at(place)
      .map(part => part.html(look))
      .join('\n');
  const main = at('main').map((part, index) => `${paragraphOf(prose[index])}${part.html(look)}`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${all('title') || title}</title>
${all('head')}
</head><body>
<header><nav><ul><li><a href="/">Front</a></li></ul>${all('menu')}</nav></header>
<main><h1>${title}</h1>
${main.join('\n')}
${paragraphOf(prose.at(-1))}
</main>
<aside>${all('aside')}</aside>
<footer><p>End of page</p>${all('footer')}</footer>
</body></html>
`;
}

const paragraphOf = (text: string | undefined): string => (text ? `<p>${text}</p>\n` : '');
