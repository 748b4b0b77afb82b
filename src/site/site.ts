/**
 * What the owner of a site runs: sources → inventory → journal → faces. Sources say what is there (sources/), the inventory
 * decides by our own detector what changed (inventory.ts), the journal keeps it (journal/), and faces tell it to whoever
 * asks (faces/) or wants to be told (push/). Nothing of it crawls other sites, and nothing of home is loaded.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { refuseForeignDirectory } from '../base/file.ts';
import { normalise, originOf, withScheme } from '../base/url.ts';
import { WELL_KNOWN } from '../notices/site/discovery.ts';
import { Access } from './faces/access.ts';
import { ATOM } from './faces/atom.ts';
import { Faces } from './faces/faces.ts';
import { OwnFace } from './faces/own.ts';
import { SearchBox } from './faces/search-box.ts';
import { SearchedTerms } from './faces/terms.ts';
import { Inventory } from './inventory.ts';
import { Bodies } from './journal/bodies.ts';
import { cursorText, Journal } from './journal/journal.ts';
import { isListed } from './journal/lines.ts';
import { hold } from './journal/lock.ts';
import { checkOptions, publicUrl, type SiteOptions } from './options.ts';
import { Announcements } from './push/announce.ts';
import { Hub } from './push/hub.ts';
import { FilesSource } from './sources/files.ts';
import { HttpSource } from './sources/http.ts';
import { SourcePermission } from './sources/permission.ts';
import type { SiteSource, SourceDocument } from './sources/source.ts';
import { ToldSource } from './sources/told.ts';

const DEFAULT_DIRECTORY = 'skein-site';
const GIGABYTE = 2 ** 30;

export interface SiteStatus {
  readonly public: string;
  readonly ready: boolean;
  readonly pages: number;
  /** Of these, the ones that no list names. */
  readonly unlisted: number;
  readonly cursor: string;
  /** Number of the last change that is no longer kept. */
  readonly first: number;
  /** Milliseconds since 1970, 0 = none yet. */
  readonly changed: number;
  /** Versions that differences are made from. */
  readonly versions: number;
  readonly versionBytes: number;
  readonly indexNowKey: string;
  readonly terms: number;
  readonly sources: readonly {
    readonly name: string;
    readonly pages: number;
    readonly time: number;
    readonly problem: string;
  }[];
  readonly subscribers: readonly {
    readonly url: string;
    readonly expires: number;
    /** Changes that it was not told of yet. */
    readonly behind: number;
    readonly problem: string;
  }[];
  readonly told: readonly {
    readonly kind: string;
    readonly url: string;
    readonly behind: number;
    readonly problem: string;
  }[];
}

export class Site {
  readonly url: string;
  readonly faces: Faces;
  readonly journal: Journal;
  readonly bodies: Bodies;
  readonly #sources: readonly SiteSource[];
  readonly #inventory: Inventory;
  readonly #announcements: Announcements;
  readonly #hub: Hub | undefined;
  readonly #terms: SearchedTerms | undefined;

  /** Use openSite: the directory must be held. */
  constructor(options: SiteOptions, records: readonly SiteSource[], now: Clock['now']) {
    const site = publicUrl(options.public);
    const directory = resolve(options.data ?? DEFAULT_DIRECTORY);
    this.url = site;
    const permission = new SourcePermission(site, options.allow ?? []);
    this.#sources = [...sourcesOf(options, site, permission), ...records];
    this.journal = new Journal({ directory, now, ...keep(options.keepChanges) });
    this.bodies = new Bodies(directory, options.keepBytes ?? GIGABYTE);
    const { journal, bodies } = this;
    const goneAfter = (options.goneAfter ?? 5) * 1000;
    const inventory = { site, journal, bodies, sources: this.#sources, permission, goneAfter, now };
    this.#inventory = new Inventory({ ...inventory, say: options.say });
    const origin = originOf(site);
    const topic = origin + ATOM;
    const allowPrivate = options.allowPrivate === true;
    const self = `${origin}${WELL_KNOWN}/hub`;
    const others = (options.hubs ?? []).filter(each => each !== 'own');
    const push = { directory, journal, site, topic, allowPrivate };
    this.#announcements = new Announcements({ ...push, hubs: others, indexNow: options.indexNow ?? [] });
    this.#hub = options.hubs?.includes('own') ? new Hub({ ...push, self, now }) : undefined;
    this.#terms = options.terms ? new SearchedTerms(directory) : undefined;
    const requestsAMinute = options.requestsAMinute ?? 120;
    const access = new Access({ token: options.token, certificate: options.certificate, requestsAMinute });
    const own = new OwnFace({ site, journal, bodies, read: path => this.read(path) });
    const hubs = [...(this.#hub ? [self] : []), ...others];
    const [announcements, hub, terms] = [this.#announcements, this.#hub, this.#terms];
    const box = options.search === undefined ? undefined : new SearchBox(options.search, site, now);
    this.faces = new Faces({ site, now, journal, access, own, announcements, hub, hubs, terms, box });
  }

  /** Resolves when the first inventory is made. */
  start(): Promise<void> {
    return this.#inventory.start();
  }

  /** The document at a path of the journal, as it is now; undefined = there is none any more, or it may not leave. */
  async read(path: string): Promise<SourceDocument | undefined> {
    const page = this.journal.pages.get(path);
    const source = page && this.#sources.find(({ name }) => name === page.source);
    return source?.read(path);
  }

  /** The program says that pages changed, or, with none, that anything may have. Resolves when they were looked at. */
  async changed(...urls: readonly string[]): Promise<void> {
    const origin = originOf(this.url);
    const paths = urls.map(written => normalise(written, this.url)).filter(url => url?.startsWith(`${origin}/`));
    if (urls.length === 0) return this.#inventory.sweep();
    // A page that no source can be asked for by name is found in a list.
    const isNew = (url: string | undefined) => !this.#sources.some(each => this.#isOf(each, url!.slice(origin.length)));
    if (paths.some(isNew)) return this.#inventory.sweep();
    for (const source of this.#sources) {
      const known = paths.map(url => url!.slice(origin.length)).filter(path => this.#isOf(source, path));
      if (known.length > 0) await this.#inventory.touched(source, known);
    }
  }

  /** A page that nobody knows yet may be of any source that can be asked for it. */
  #isOf(source: SiteSource, path: string): boolean {
    const page = this.journal.pages.get(path);
    return page === undefined ? source.name === 'told' || source.name === 'http' : page.source === source.name;
  }

  status(): SiteStatus {
    const { journal, bodies } = this;
    const last = journal.cursor.sequence;
    return {
      public: this.url,
      ready: journal.begun,
      pages: journal.pages.size,
      unlisted: unlistedIn(journal),
      cursor: cursorText(journal),
      first: journal.first,
      changed: journal.entries.at(-1)?.at ?? 0,
      versions: bodies.count,
      versionBytes: bodies.bytes,
      indexNowKey: this.#announcements.key,
      terms: this.#terms?.count ?? 0,
      sources: [...this.#inventory.states.values()].map(({ name, pages, listed, problem, unread }) => ({
        ...{ name, pages, time: listed, problem: problem || unread },
      })),
      subscribers: (this.#hub?.subscribers ?? []).map(({ callback, expires, told, problem }) => ({
        ...{ url: callback, expires, behind: Math.max(0, last - told), problem },
      })),
      told: this.#announcements.targets.map(({ kind, url, told, problem }) => ({
        ...{ kind, url, behind: Math.max(0, last - told), problem },
      })),
    };
  }

  async close(): Promise<void> {
    await this.#inventory.stop();
    this.#announcements.stop();
    this.#hub?.stop();
    this.journal.close();
    this.bodies.close();
  }
}

export interface OpenSite {
  readonly site: Site;
  close(): Promise<void>;
}

/** Holds the directory and opens the site; `start` makes the inventory. `now`: simulations give changes other times. */
export async function openSite(options: SiteOptions, now = systemClock.now): Promise<OpenSite> {
  checkOptions(options);
  const directory = resolve(options.data ?? DEFAULT_DIRECTORY);
  refuseForeignDirectory(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let site: Site | undefined;
  const lock = await hold(directory, () => site?.status());
  try {
    const opened = new Site(options, await recordSources(options), now);
    site = opened;
    return {
      site: opened,
      close: async () => {
        await opened.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** What the journal of a site that does not run says. */
export function readStatus(directory: string): SiteStatus {
  const journal = new Journal({ directory, now: systemClock.now, readOnly: true });
  const bodies = new Bodies(directory, GIGABYTE);
  const { count: versions, bytes: versionBytes } = bodies;
  bodies.close();
  return {
    ...{ public: '', ready: false, pages: journal.pages.size, unlisted: unlistedIn(journal) },
    ...{ cursor: cursorText(journal), first: journal.first },
    ...{ changed: journal.entries.at(-1)?.at ?? 0, versions, versionBytes, indexNowKey: '', terms: 0 },
    ...{ sources: [], subscribers: [], told: [] },
  };
}

function unlistedIn({ pages }: Journal): number {
  return [...pages.values()].filter(page => !isListed(page)).length;
}

/** Loaded for those who have any: drivers of databases and readers of media are large. */
async function recordSources({ records, public: site }: SiteOptions): Promise<readonly SiteSource[]> {
  if (records === undefined) return [];
  const { readRecords } = await import('./records/records.ts');
  return readRecords(records, publicUrl(site));
}

function sourcesOf(options: SiteOptions, site: string, permission: SourcePermission): readonly SiteSource[] {
  const { directory, cleanUrls = false, upstream, pages } = options;
  const every = options.every === undefined ? {} : { every: options.every * 1000 };
  return [
    ...(directory === undefined ? [] : [new FilesSource({ directory, site, cleanUrls, ...every })]),
    ...(upstream === undefined ? [] : [new HttpSource({ site, upstream: withScheme(upstream), permission, ...every })]),
    ...(pages === undefined ? [] : [new ToldSource(site, pages, every.every)]),
  ];
}

function keep(changes: number | undefined): { keep?: number } {
  return changes === undefined ? {} : { keep: changes };
}
