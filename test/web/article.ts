/**
 * Ordinary pages: `/` and `/p/1.html` … `/p/N.html`. A tree holds them together, so that each can be reached from the
 * root; the other links, inside the server and to other servers, are drawn from the seed. Each page keeps one rate of
 * change, one behaviour of validators, one charset, and its noise, for ever.
 */
import { history } from './changes.ts';
import { encode } from './charset.ts';
import { picture } from './image.ts';
import type { Noise, Validators } from './options.ts';
import { hashOf, mix, pick, share } from './random.ts';
import type { Document, Link } from './render.ts';
import { render } from './render.ts';
import type { Content, ContentChange, Door, Entry, Hit, Reply, Site } from './site.ts';
import { paragraph, title } from './words.ts';

/** Children of a page in the tree. */
const FAN = 5;

export function articlePath(page: number): string {
  return page === 0 ? '/' : `/p/${page}.html`;
}

/** All ordinary pages of a server, and their pictures. */
export function articles(site: Site, doors: readonly Door[]): Entry[] {
  const entries: Entry[] = [];
  for (let page = 0; page < site.options.pagesPerServer; page++) {
    const article = makeArticle(site, page, page === 0 ? doors : []);
    entries.push(article.entry, ...article.pictures);
  }
  return entries;
}

function makeArticle(site: Site, page: number, doors: readonly Door[]): { entry: Entry; pictures: Entry[] } {
  const { options } = site;
  const hash = hashOf(options.seed, site.server, page);
  const rate = pick(options.rates, mix(hash, 11));
  const noise = share(mix(hash, 12)) < options.noiseShare ? options.noise : [];
  const validators = pick(options.validators, mix(hash, 13));
  const charset = pick(options.charsets, mix(hash, 14));
  const kinds: ContentChange['kind'][] = ['text', 'links', 'structure'];
  if (options.images > 0) kinds.push('image');
  const past = history(mix(hash, 15), site.start, rate, kinds);
  const at = (version: number) => compose(site, page, past.change, version);

  const content: Content = {
    rate,
    noise,
    validators,
    version: past.version,
    changes: past.changes,
    text: time => at(past.version(time)).document.paragraphs.join('\n'),
    links: time => {
      const links = [...doorLinks(doors), ...at(past.version(time)).document.links];
      return [...new Set(links.map(link => new URL(link.href, site.origin).href))];
    },
  };
  const reply = (hit: Hit): Reply => {
    const version = past.version(hit.time);
    const { document } = at(version);
    const full = { ...document, links: [...doorLinks(doors), ...document.links] };
    return dressed(site, full, { hit, hash, noise, charset, validators, version, modified: past.modified(hit.time) });
  };
  const pictures: Entry[] = [];
  for (let slot = 0; slot < options.images; slot++) {
    pictures.push(pictureEntry(site, page, slot, time => at(past.version(time)).images[slot]!));
  }
  return { entry: { path: articlePath(page), expect: 'page', found: 'links', content, reply }, pictures };
}

interface Finish {
  readonly hit: Hit;
  readonly hash: number;
  readonly noise: readonly Noise[];
  readonly charset: string;
  readonly validators: Validators;
  readonly version: number;
  readonly modified: number;
}

function dressed(site: Site, document: Document, finish: Finish): Reply {
  const { hit, hash, noise, charset, version, validators } = finish;
  const design = hit.time >= site.design.time ? site.design.count : site.design.count - 1;
  const text = render(document, { design, noise, hit, hash });
  // The document names its real charset; a page in UTF-16 has a mark at its beginning instead.
  const body = encode(text.replace('<meta charset="utf-8">', `<meta charset="${charset}">`), charset);
  return {
    status: 200,
    headers: { 'content-type': charset.startsWith('utf-16') ? 'text/html' : `text/html; charset=${charset}` },
    body,
    state: {
      // A redesign is a new representation, so honest validators change with it.
      version: version * 1000 + design,
      modified: design > 0 ? Math.max(finish.modified, site.design.time) : finish.modified,
      validators,
    },
  };
}

interface Composition {
  readonly document: Document;
  /** Hash of each picture. */
  readonly images: readonly number[];
}

/** The page at a version: the first one, with each change applied in order. */
function compose(site: Site, page: number, change: (version: number) => ContentChange, version: number): Composition {
  const { options, server } = site;
  const hash = hashOf(options.seed, server, page);
  const seeds = Array.from({ length: options.paragraphs }, (_, index) => hashOf(hash, 1, index));
  const images = Array.from({ length: options.images }, (_, slot) => hashOf(hash, 2, slot));
  const extra: Link[] = [];
  let sections = false;
  for (let number = 1; number <= version; number++) {
    const h = mix(hash, 5000 + number);
    const { kind } = change(number);
    if (kind === 'structure') sections = !sections;
    else if (kind === 'image') images[h % images.length] = mix(h, 1);
    else if (kind === 'links') extra[h % 3] = innerLink(site, h);
    else seeds[h % seeds.length] = mix(h, 1);
  }
  const document: Document = {
    title: title(hash),
    paragraphs: seeds.map(seed => paragraph(seed)),
    sections,
    links: [...treeLinks(site, page), ...drawnLinks(site, page), ...extra.filter(link => link !== undefined)],
    images: images.map((_, slot) => imagePath(page, slot)),
    head: [],
    language: 'en',
  };
  return { document, images };
}

/** The links that make every page, and every server, reachable from the root of server 0. */
function treeLinks(site: Site, page: number): Link[] {
  const links: Link[] = [];
  for (let child = page * FAN + 1; child <= page * FAN + FAN; child++) {
    if (child < site.options.pagesPerServer) links.push(linkTo(site, site.server, child));
    if (page === 0) {
      const server = site.server * FAN + child;
      if (server < site.options.servers) links.push(linkTo(site, server, 0));
    }
  }
  return links;
}

function drawnLinks(site: Site, page: number): Link[] {
  const { seed, links, crossLinks, servers, pagesPerServer } = site.options;
  const drawn: Link[] = [];
  for (let i = 0; i < links; i++) drawn.push(innerLink(site, hashOf(seed, site.server, page, 100 + i)));
  for (let i = 0; i < crossLinks && servers > 1; i++) {
    const h = hashOf(seed, site.server, page, 200 + i);
    const other = (site.server + 1 + (h % (servers - 1))) % servers;
    drawn.push(linkTo(site, other, mix(h, 1) % pagesPerServer));
  }
  return drawn;
}

function innerLink(site: Site, hash: number): Link {
  return linkTo(site, site.server, mix(hash, 9) % site.options.pagesPerServer);
}

function linkTo(site: Site, server: number, page: number): Link {
  const path = articlePath(page);
  const href = server === site.server ? path : site.origins[server] + path;
  return { href, anchor: title(hashOf(site.options.seed, server, page)) };
}

function doorLinks(doors: readonly Door[]): Link[] {
  return doors.map(({ path, anchor, rel }) => ({ href: path, anchor, ...(rel === undefined ? {} : { rel }) }));
}

function imagePath(page: number, slot: number): string {
  return `/i/${page}-${slot}.png`;
}

function pictureEntry(site: Site, page: number, slot: number, hashAt: (time: number) => number): Entry {
  return {
    path: imagePath(page, slot),
    expect: 'page',
    found: 'embedded',
    reply: ({ time }) => ({
      status: 200,
      headers: { 'content-type': 'image/png' },
      body: picture(hashAt(time)),
      state: { version: hashAt(time), modified: site.start, validators: 'etag' },
    }),
  };
}
