/**
 * The little web of `skein demo`: the sites of five islands that do not exist, served on loopback, each from a port of
 * its own. It has what a crawler meets outside: links between sites, robots rules, redirects, errors, a calendar without
 * end, pictures, a page that is the same twice, noise that is not news, and pages that change when the tide turns
 * (`tick`). It never asks the network for anything, and the same tide always serves the same words.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DemoWeb {
  /** Where a crawl starts: the front page of the Gazette, which leads to everything else. */
  readonly seeds: readonly string[];
  readonly sites: readonly { readonly name: string; readonly origin: string }[];
  /** The tide turns: some pages have something new to say. Returns the number of tides so far. */
  tick(): number;
  close(): Promise<void>;
}

/** What one answer depends on. */
interface Moment {
  readonly tide: number;
  /** Requests to this site so far: the noise. */
  readonly count: number;
  readonly origin: Readonly<Record<SiteName, string>>;
  readonly path: string;
}

interface DemoAnswer {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

type SiteName = 'gazette' | 'lighthouse' | 'library' | 'ferry' | 'garden';
type DemoPage = (moment: Moment) => DemoAnswer;
/** Path → page; a path that ends in `*` answers for all that begin so. */
type DemoSite = Readonly<Record<string, DemoPage>>;

const NAMES: Readonly<Record<SiteName, string>> = {
  gazette: 'The Harbour Gazette',
  lighthouse: 'Lighthouse of Far Tern',
  library: 'Library of Middle Island',
  ferry: 'Slow Ferry Company',
  garden: 'Moss Garden of Little Grey',
};

const link = (href: string, text: string): string => `<a href="${href}">${text}</a>`;

/** A page in the plain dress that all five sites share. */
function page(site: SiteName, title: string, paragraphs: readonly string[], head = ''): DemoAnswer {
  const body = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} – ${NAMES[site]}</title>
${head}
</head>
<body>
<header>${link('/', NAMES[site])}</header>
<main>
<h1>${title}</h1>
${paragraphs.map(text => `<p>${text}</p>`).join('\n')}
</main>
<footer><p>Printed on kelp paper. ${link('/about.html', 'About us')}</p></footer>
</body>
</html>
`;
  return { status: 200, type: 'text/html; charset=utf-8', body };
}

const moved = (location: string, status = 301): DemoAnswer => ({ status, headers: { location }, body: '' });
const robots = (...lines: string[]): DemoAnswer => ({ status: 200, type: 'text/plain', body: `${lines.join('\n')}\n` });
const turn = <T>(choices: readonly T[], number: number): T => choices[number % choices.length] as T;

const HEADLINES = [
  'Herring arrive two days early, bakery sells out of lemons',
  'Council votes to leave the crooked bridge crooked',
  'A piano has washed ashore, slightly out of tune',
  'Fog expected, umbrellas of no use',
  'Goats found on the post office roof again',
];

const gazette: DemoSite = {
  '/': ({ tide, origin }) =>
    page('gazette', 'Today on the islands', [
      `<b>${turn(HEADLINES, tide)}.</b> ${link('/news/today.html', 'Read on')}`,
      `The ${link(`${origin.ferry}/`, 'ferry')} runs, the ${link(`${origin.lighthouse}/`, 'lamp')} is lit, the
       ${link(`${origin.library}/`, 'library')} is open and the ${link(`${origin.garden}/`, 'moss')} is growing.`,
      `${link('/news/archive.html', 'Earlier news')} · ${link('/tides.html', 'Tide table')} ·
       ${link('/letters.html', 'Letters')} · ${link('/old-front-page', 'The old front page')} ·
       ${link('/news/missing.html', 'A story we lost')}`,
    ]),
  '/news/today.html': ({ tide }) =>
    page('gazette', turn(HEADLINES, tide), [
      `Our reporter was there, and took notes on the back of tide table number ${tide}.`,
      'Witnesses agree on the weather and on nothing else. The harbour master declined to comment and offered tea.',
      link('/news/archive.html', 'All our stories'),
    ]),
  '/news/archive.html': ({ tide }) =>
    page('gazette', 'Earlier news', [
      ...HEADLINES.map((headline, index) => link(`/news/story-${index}.html`, headline)),
      `The archive holds ${HEADLINES.length + tide} stories, of which ${HEADLINES.length} are worth reading.`,
    ]),
  '/news/story-*': ({ path }) => {
    const headline = HEADLINES[Number(path.replace(/\D/g, ''))];
    if (headline === undefined) return notFound('gazette');
    return page('gazette', headline, [
      `This happened some time ago. It was talked about for a week, and then the herring came.`,
      `Those who remember ${headline.toLowerCase()} remember it fondly.`,
    ]);
  },
  '/tides.html': ({ tide }) =>
    page('gazette', 'Tide table', [
      `Tide ${tide}: high water at ${(7 + tide) % 24}:${String((tide * 25) % 60).padStart(2, '0')}.`,
      'Times are given in island time, which is a little later than other times.',
    ]),
  '/letters.html': ({ origin }) =>
    page('gazette', 'Letters', [
      `Sir, the ${link(`${origin.garden}/paths.html`, 'garden path')} has led me astray. Yours, a visitor.`,
      `Madam, who moved the ${link(`${origin.library}/catalogue.html`, 'catalogue')}? Yours, everyone.`,
    ]),
  '/old-front-page': () => moved('/'),
  '/about.html': () => page('gazette', 'About the Gazette', ['Founded by accident. Printed on Tuesdays, mostly.']),
};

const lighthouse: DemoSite = {
  '/robots.txt': () => robots('User-agent: *', 'Disallow: /keeper/', 'Allow: /keeper/cat.html'),
  '/': ({ tide, origin }) =>
    page('lighthouse', 'The lamp is lit', [
      `It has been lit for ${9000 + tide} nights. The stairs have 214 steps; the keeper has counted them.`,
      `${link('/log.html', 'Log')} · ${link('/calendar/2026/1', 'Calendar of open days')} ·
       ${link('/keeper/cat.html', 'The cat')} · ${link('/keeper/diary.html', 'The diary (private)')} ·
       ${link('/storm', 'Storm warnings')}`,
      `Nearest book: ${link(`${origin.library}/books/knots.html`, 'A Short Treatise of Long Knots')}.`,
    ]),
  '/log.html': ({ tide }) =>
    page('lighthouse', 'Log', [
      ...Array.from({ length: 4 }, (_, back) => `Night ${9000 + tide - back}: ${turn(WEATHER, tide - back + 50)}.`),
      'The log is kept in pencil, because ink freezes.',
    ]),
  '/keeper/cat.html': () =>
    page('lighthouse', 'The cat', [
      'Her name is Fresnel. She sleeps on the warm side of the lens and catches nothing.',
    ]),
  '/keeper/diary.html': () =>
    page('lighthouse', 'Diary', ['If a crawler can read this, it did not read robots.txt first.']),
  // A trap: every month has a page, and there is always another month.
  '/calendar/*': ({ path }) => {
    const [, , year, month] = path.split('/').map(Number);
    const serial = (year ?? 2026) * 12 + (month ?? 1) - 1;
    const to = (step: number) => `/calendar/${Math.floor((serial + step) / 12)}/${((serial + step) % 12) + 1}`;
    return page('lighthouse', `Open days, ${month}/${year}`, [
      'There are no open days this month.',
      `${link(to(-1), 'Month before')} · ${link(to(1), 'Month after')}`,
    ]);
  },
  '/storm': () => moved('/storm/warning', 302),
  '/storm/warning': () => moved('/storm/warning/now', 302),
  '/storm/warning/now': () => moved('/log.html', 302),
  '/about.html': () => page('lighthouse', 'About the lamp', ['Visible for nineteen miles, or twenty if you know it.']),
};

const WEATHER = ['wind from the north, no ships', 'calm; a seal sang', 'fog; rang the bell', 'stars, too many to log'];

const BOOKS: readonly (readonly [slug: string, title: string, about: string])[] = [
  ['knots', 'A Short Treatise of Long Knots', 'Chapter one ties a knot. The other nine try to undo it.'],
  ['maps', 'Maps of Places That Moved', 'With a blank page for corrections, now full.'],
  ['soup', 'Soups of the Outer Reef', 'Begin with a large pot and low expectations.'],
  ['gulls', 'Conversations with Gulls', 'The author listens well. The gulls do not.'],
];

const library: DemoSite = {
  '/robots.txt': ({ origin }) =>
    robots('User-agent: *', 'Disallow: /search', '', `Sitemap: ${origin.library}/sitemap.xml`),
  '/sitemap.xml': ({ origin }) => ({
    status: 200,
    type: 'application/xml',
    body: `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>${origin.library}/catalogue.html</loc></url>
<url><loc>${origin.library}/reading-room.html</loc><lastmod>2026-03-01</lastmod></url>
</urlset>`,
  }),
  '/': ({ origin }) =>
    page('library', 'Please return your books dry', [
      `${link('/catalogue.html', 'Catalogue')} · ${link('/catalogue-copy.html', 'Catalogue (second copy)')} ·
       ${link('/search?q=whales', 'Search')} · ${link('/lost-books.html', 'Lost books')} ·
       ${link('/round-and-round', 'Where is the map room?')}`,
      `We lend to every island that the ${link(`${origin.ferry}/timetable.html`, 'ferry')} reaches.`,
    ]),
  '/catalogue.html': () => catalogue(),
  '/catalogue-copy.html': () => catalogue(),
  '/books/*': ({ path }) => {
    const book = BOOKS.find(([slug]) => path === `/books/${slug}.html`);
    if (book === undefined) return notFound('library');
    return page('library', book[1], [book[2], `Borrowed often. ${link('/catalogue.html', 'Back to the catalogue')}`]);
  },
  '/reading-room.html': () => page('library', 'Reading room', ['Quiet. Only the sitemap knows where it is.']),
  '/lost-books.html': () => ({ status: 410, body: 'The lost books have been given up for good.' }),
  '/search*': () => page('library', 'Search', ['A crawler that asks here has not read robots.txt.']),
  '/round-and-round': () => moved('/and-round-again', 302),
  '/and-round-again': () => moved('/round-and-round', 302),
  '/about.html': () => page('library', 'About the library', ['Eleven shelves and a stove.']),
};

function catalogue(): DemoAnswer {
  const shelf = BOOKS.map(([slug, title]) => link(`/books/${slug}.html`, title));
  return page('library', 'Catalogue', ['All our books, in the order in which they arrived:', ...shelf]);
}

const PORTS = ['Near Tern', 'Far Tern', 'Middle Island', 'Little Grey', 'The Sandbank'];

const ferry: DemoSite = {
  '/': ({ origin, count }) =>
    page(
      'ferry',
      'Slowly, but there',
      [
        `${link('/timetable.html', 'Timetable')} · ${link('/tickets.html', 'Tickets')} ·
         ${link('/complaints.html', 'Complaints')} · ${link('/captain.html', 'Word from the captain')}`,
        `News on board: ${link(`${origin.gazette}/`, 'the Gazette')}, one day old.`,
        `You are visitor number ${1000 + count}.`,
      ],
      // Noise: a new token at each request, though the page says nothing new.
      `<meta name="csrf-token" content="${((count * 2654435761) >>> 0).toString(16)}">`,
    ),
  '/timetable.html': ({ tide }) =>
    page('ferry', 'Timetable', [
      ...PORTS.map((port, stop) => `${port}: ${String((6 + stop * 2 + (tide % 3)) % 24).padStart(2, '0')}:15`),
      'The boat waits for anyone who waves.',
    ]),
  '/tickets.html': () =>
    page('ferry', 'Tickets', ['One shell each way. Dogs travel free, cats decide for themselves.']),
  '/captain.html': ({ tide }) =>
    page('ferry', 'Word from the captain', [
      tide % 2 === 0 ? 'Smooth seas. I have taken up knitting.' : 'Rough seas. I have put down the knitting.',
    ]),
  // Overloaded at every other tide, and says so as the standard wants.
  '/complaints.html': ({ tide }) =>
    tide % 2 === 0
      ? { status: 503, headers: { 'retry-after': '1' }, body: 'Too many complaints. Please come back.' }
      : page('ferry', 'Complaints', ['The gulls complain most.']),
  '/about.html': () => page('ferry', 'About the company', ['One boat. It is called the other boat.']),
};

const MOSSES = ['cushion', 'feather', 'silver', 'sleeping'];

const garden: DemoSite = {
  '/': ({ origin, tide }) =>
    page('garden', 'Please do not hurry the moss', [
      `<img src="/pictures/moon.svg" alt="Moon over the garden"> The moon tonight.`,
      MOSSES.map(moss => link(`/moss/${moss}.html`, `${moss} moss`)).join(' · '),
      `${link('/paths.html', 'Paths')} · ${link('/broken-gate.html', 'The broken gate')} ·
       ${link(`${origin.lighthouse}/`, 'The lighthouse, from here')}`,
      `Growth since last tide: ${tide % 2} hairs.`,
    ]),
  '/moss/*': ({ path }) => {
    const moss = MOSSES.find(name => path === `/moss/${name}.html`);
    if (moss === undefined) return notFound('garden');
    return page('garden', `The ${moss} moss`, [
      `<img src="/pictures/${moss}.svg" alt="${moss} moss">`,
      `The ${moss} moss likes shade, rain, and to be left alone. It has been doing well for four hundred years.`,
    ]);
  },
  '/pictures/*': ({ path, tide }) => picture(path, tide),
  '/paths.html': ({ origin }) =>
    page('garden', 'Paths', [
      'The short path is closed because a snail is using it. The long path is longer than that.',
      `Both end at the ${link(`${origin.ferry}/`, 'ferry')}.`,
    ]),
  '/broken-gate.html': () => ({ status: 500, body: 'The gate is broken. So is this page.' }),
  '/about.html': () => page('garden', 'About the garden', ['Laid out by rain.']),
};

/** The moon changes with the tide; the mosses, of course, do not. */
function picture(path: string, tide: number): DemoAnswer {
  const name = path.slice(10, -4);
  const moon = name === 'moon';
  if (!moon && !MOSSES.includes(name)) return notFound('garden');
  const shape = moon
    ? `<circle cx="48" cy="48" r="30" fill="#fd9"/><circle cx="${48 + ((tide * 12) % 72)}" cy="48" r="30" fill="#124"/>`
    : `<circle cx="48" cy="80" r="${20 + name.length * 3}" fill="#4a6"/>`;
  const body = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><rect width="96" height="96" fill="#124"/>${shape}</svg>`;
  return { status: 200, type: 'image/svg+xml', body };
}

function notFound(site: SiteName): DemoAnswer {
  return { ...page(site, 'Not on any map', ['There is no such page. There may have been an island.']), status: 404 };
}

/** The sites that take care to say when a page is the same; the others never do. */
const CAREFUL: readonly SiteName[] = ['library', 'garden'];

const SITES: Readonly<Record<SiteName, DemoSite>> = { gazette, lighthouse, library, ferry, garden };

export async function openDemoWeb(): Promise<DemoWeb> {
  const names = Object.keys(SITES) as SiteName[];
  const origin = {} as Record<SiteName, string>;
  let tide = 0;
  const servers = names.map(name => {
    let count = 0;
    return createServer((request, response) => {
      const path = request.url ?? '/';
      const found = find(SITES[name], path);
      const answer = found?.({ tide, count: count++, origin, path }) ?? notFound(name);
      send(request, response, CAREFUL.includes(name) ? tagged(answer, request) : answer);
    });
  });
  for (const [index, server] of servers.entries()) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    origin[names[index]!] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return {
    seeds: [`${origin.gazette}/`],
    sites: names.map(name => ({ name: NAMES[name], origin: origin[name] })),
    tick: () => ++tide,
    close: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
    },
  };
}

function find(site: DemoSite, path: string): DemoPage | undefined {
  if (site[path] !== undefined) return site[path];
  const prefix = Object.keys(site).find(name => name.endsWith('*') && path.startsWith(name.slice(0, -1)));
  return prefix === undefined ? undefined : site[prefix];
}

/** Adds an ETag, or answers 304 where the request knows it. */
function tagged(answer: DemoAnswer, request: IncomingMessage): DemoAnswer {
  if (answer.status !== 200) return answer;
  const etag = `"${createHash('sha1').update(answer.body).digest('base64url').slice(0, 12)}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag }, body: '' };
  return { ...answer, headers: { ...answer.headers, etag } };
}

function send(request: IncomingMessage, response: ServerResponse, answer: DemoAnswer): void {
  const { status, type = 'text/plain; charset=utf-8', headers = {}, body } = answer;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
}
