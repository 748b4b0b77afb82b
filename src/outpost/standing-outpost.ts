/**
 * A standing outpost: a service on a machine of its own that dials its parent, works, and dials again for ever. The
 * token is needed once; afterwards its key is enough. With a door of its own it is a parent to others.
 *
 * Its directory holds who it is and whom it serves (outpost.json, identity.pem), its spool, and its members.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { domainOf } from '../errand/scope/scope.ts';
import { greetOutpost, greetParent } from '../transfer/entry/greeting.ts';
import { limitsOnly, Members } from '../transfer/entry/members.ts';
import { readToken } from '../transfer/entry/token.ts';
import type { LineOptions } from '../transfer/line.ts';
import { type Address, type Door, dial, openDoor } from '../transfer/websocket.ts';
import type { Hello, OutpostStatus, Welcome } from '../transfer/wire/messages.ts';
import type { Ceilings } from './owner/ceilings.ts';
import type { ChangeableTerms } from './owner/owner.ts';
import type { QuotaTerms } from './owner/quota.ts';
import { dialHome } from './owner/reach-home.ts';
import { OutpostService } from './service.ts';
import type { StationOptions } from './service-options.ts';

/** outpost.json. */
interface OutpostFile extends Address, Omit<JoinOptions, 'directory' | 'token'> {
  /** Key of the home that it obeys, once it has met it. */
  readonly home: string;
}

export interface JoinOptions {
  readonly directory: string;
  readonly token: string;
  readonly name: string;
  /** Hosts or domains that the owner allows; empty = those of the invitation. */
  readonly servers: readonly string[];
  readonly allowPrivate: boolean;
  /** What the owner lets it use in a day. */
  readonly quota?: QuotaTerms;
  /** What errands may use at most; what is absent is as in CEILINGS. */
  readonly ceilings?: Partial<Ceilings>;
  /** Errands may bring code that home signed; default true. */
  readonly code?: boolean;
}

export interface RunOptions {
  readonly directory: string;
  readonly software: string;
  readonly threads: number;
  readonly spoolBytes: number;
  readonly listen?: { readonly host: string; readonly port: number };
  /** Private addresses are open in this run, though the owner did not say so when joining. */
  readonly allowPrivate?: boolean;
  readonly clock: Clock;
  /** One sentence for the log. */
  readonly say: (text: string) => void;
  readonly outpost?: StationOptions['outpost'];
  readonly line?: LineOptions;
  readonly lease?: number;
  /** Milliseconds between attempts to reach the parent: first, doubled up to the longest. */
  readonly backOff?: { readonly first: number; readonly longest: number };
}

const FILE = 'outpost.json';
/** Milliseconds between attempts: who comes while home crawls alone is a loss, and a knock costs nearly nothing. */
const LONGEST = 4000;
/** Milliseconds: a parent that answers but is not ready is asked again soon. */
const SOON = 2000;
/** Milliseconds between two looks at what the owner wrote. */
const RULES_READ = 1000;

/** Writes down whom to serve. The token itself is shown to the parent by the first run. */
export function joinParent(options: JoinOptions, now: number): void {
  const token = readToken(options.token);
  if (token.expires < now) throw new SkeinError('refused', 'That token has expired.', 'Ask for a new one.');
  const { host, port, fingerprint, id, secret } = token;
  const { directory, name, allowPrivate, quota = {}, ceilings = {}, code = true } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const servers = (options.servers.length > 0 ? options.servers : token.servers).map(domainOf);
  const allowed = { quota: limitsOnly({ ...quota }), ceilings, code };
  save(directory, { host, port, fingerprint, name, servers, allowPrivate, ...allowed, home: '' });
  writeFileSync(join(directory, 'token'), `${id}.${secret}`, { mode: PRIVATE });
}

/** The owner's rules with these changes; a running outpost takes them over. */
export function changeRules(directory: string, { quota = {}, ceilings = {} }: ChangeableTerms): ChangeableTerms {
  const place = load(directory);
  const changed = { quota: limitsOnly({ ...place.quota, ...quota }), ceilings: { ...place.ceilings, ...ceilings } };
  if (Object.keys(quota).length + Object.keys(ceilings).length > 0) save(directory, { ...place, ...changed });
  return changed;
}

export class StandingOutpost {
  readonly station: OutpostService;
  readonly #options: RunOptions;
  readonly #members: Members;
  readonly #stop = new AbortController();
  #place: OutpostFile;
  #door: Door | undefined;
  #connected = false;
  /** The trouble that was told last. */
  #said = '';
  /** outpost.json as it was last read. */
  #rules: string;
  /** The last attempt got an answer. */
  #reached = false;
  /** Outposts that were not let in. */
  refusals = 0;

  constructor(options: RunOptions) {
    const { directory, software, threads, spoolBytes, clock } = options;
    this.#options = options;
    this.#place = load(directory);
    this.#rules = readFileSync(join(directory, FILE), 'utf8');
    this.#members = new Members(join(directory, 'door'));
    const { name, servers, allowPrivate, quota = {}, ceilings = {}, code = true } = this.#place;
    this.station = new OutpostService({
      directory: join(directory, 'parcels'),
      name,
      software,
      identity: this.#members.identity(),
      threads,
      spoolBytes,
      servers,
      allowPrivate: allowPrivate || options.allowPrivate === true,
      quota,
      ceilings,
      code: { trusted: code, own: false },
      clock,
      dial: address => dialHome(address, allowPrivate || options.allowPrivate === true),
      say: options.say,
      ...(options.outpost && { outpost: options.outpost }),
      ...(options.lease !== undefined && { lease: options.lease }),
    });
  }

  get connected(): boolean {
    return this.#connected;
  }

  get door(): Door | undefined {
    return this.#door;
  }

  get status(): OutpostStatus {
    return this.station.status;
  }

  /** Serves until stop(). Throws when the parent refuses for good. */
  async run(): Promise<void> {
    const { listen, clock, backOff = { first: 500, longest: LONGEST } } = this.#options;
    if (listen) this.#door = await openDoor(listen, this.#members.certificate(), stream => this.#welcomeChild(stream));
    let wait = backOff.first;
    const rules = setInterval(() => this.#readRules(), RULES_READ);
    try {
      while (!this.#stop.signal.aborted) {
        const served = await this.#attempt();
        if (this.#stop.signal.aborted) break;
        wait = served ? backOff.first : Math.min(this.#reached ? SOON : backOff.longest, wait * 2);
        // A little chance keeps a hundred outposts from knocking all at once when their parent returns.
        await clock.sleep(wait * (0.75 + Math.random() / 2), this.#stop.signal);
      }
    } finally {
      clearInterval(rules);
      await this.#door?.close();
      await this.station.close();
    }
  }

  /** Ends the errands, delivers what can be delivered, and leaves. */
  async stop(): Promise<void> {
    await this.station.recall();
    const until = performance.now() + 5000;
    while (this.#connected && this.station.spool.errands.size > 0 && performance.now() < until) {
      await this.#options.clock.sleep(50);
    }
    this.#stop.abort();
    this.#line?.bye(this.station.spool.errands.size > 0 ? 'later' : 'done', 'the outpost was stopped');
  }

  #line: { bye(code: 'done' | 'later', why: string): void } | undefined;

  /** One line from dialling to its end; true = it was welcomed. */
  async #attempt(): Promise<boolean> {
    const { say, line } = this.#options;
    let welcomed = false;
    this.#reached = false;
    try {
      const stream = await dial(this.#place);
      this.#reached = true;
      const greeted = await greetParent(stream, this.station, this.station.words(this.#token()), line);
      this.#accept(greeted.answer);
      welcomed = true;
      this.#said = '';
      this.#connected = true;
      this.#line = greeted.line;
      say(`Serving ${greeted.hello.name} at ${this.#place.host}:${this.#place.port}.`);
      const { why } = await this.station.serve(greeted);
      if (!this.#stop.signal.aborted) say(`The connection ended: ${why}. Reconnecting.`);
    } catch (error) {
      const known = error instanceof SkeinError ? error.code : '';
      if (known === 'version-mismatch' || known === 'refused') throw error;
      this.#complain(`${(error as Error).message} Reconnecting to ${this.#place.host}:${this.#place.port}.`);
    }
    this.#connected = false;
    this.#line = undefined;
    return welcomed;
  }

  /** Once, however often it happens: it dials every few seconds. */
  #complain(trouble: string): void {
    if (trouble !== this.#said) this.#options.say(trouble);
    this.#said = trouble;
  }

  /** The owner may have changed what is allowed, in another process. */
  #readRules(): void {
    const text = readFileSync(join(this.#options.directory, FILE), 'utf8');
    this.station.children.dismiss(this.#members.all().flatMap(each => (each.revoked ? [each.name] : [])));
    if (text === this.#rules) return;
    this.#rules = text;
    this.station.change(JSON.parse(text) as OutpostFile);
  }

  #token(): string {
    const file = join(this.#options.directory, 'token');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  #accept(welcome: Welcome): void {
    if (this.#place.home === welcome.home) return;
    if (this.#place.home !== '') {
      throw new SkeinError('refused', 'The parent now works for another home than the one that this outpost joined.');
    }
    this.#place = { ...load(this.#options.directory), home: welcome.home }; // the owner may have written to it
    save(this.#options.directory, this.#place);
    writeFileSync(join(this.#options.directory, 'token'), ''); // it has done its work
  }

  async #welcomeChild(stream: Parameters<typeof greetOutpost>[0]): Promise<void> {
    let name = '';
    let quota: QuotaTerms = {};
    let stands = false;
    const admit = (hello: Hello): Welcome => {
      const { welcome } = this.station;
      if (!welcome) throw new SkeinError('internal', 'The parent is not connected to its own home yet.');
      try {
        const member = this.#members.admit(hello, this.station.now());
        name = member.name;
        ({ quotas: quota, stands } = member);
        const { pages = 0, bytes = 0 } = quota;
        return {
          ...welcome,
          servers: member.servers,
          pagesADay: pages,
          bytesADay: bytes,
          level: welcome.level + 1,
        };
      } catch (error) {
        this.refusals++;
        throw error;
      }
    };
    const { line, hello, answer } = await greetOutpost(stream, this.station, admit, this.#options.line);
    this.station.children.attach(line, { ...hello, name, servers: answer.servers }, quota, stands);
  }
}

export function hasJoined(directory: string): boolean {
  return existsSync(join(directory, FILE));
}

function load(directory: string): OutpostFile {
  const file = join(directory, FILE);
  if (!existsSync(file)) {
    throw new SkeinError(
      'not-found',
      `No outpost was set up in ${resolve(directory)}.`,
      'Join with "skein outpost join" first, or name the directory where you did with --directory.',
    );
  }
  return JSON.parse(readFileSync(file, 'utf8')) as OutpostFile;
}

function save(directory: string, place: OutpostFile): void {
  replaceFile(join(directory, FILE), JSON.stringify(place, undefined, 2), PRIVATE);
}
