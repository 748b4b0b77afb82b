/**
 * The machines beyond this one: dials those that ssh reaches, opens the door for those that come by themselves, and
 * gives each a carrier under its name. A machine that vanishes keeps its carrier for the length of a lease; when it
 * comes back in time it goes on, later it begins anew. It never sends an errand: that is dispatch's.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { harmless } from '../../base/harmless.ts';
import type { Identity } from '../../errand/keys.ts';
import { Quota, type QuotaTerms, usedBy } from '../../outpost/owner/quota.ts';
import type { Receiver } from '../../transfer/carrier.ts';
import { fingerprintOf } from '../../transfer/entry/certificate.ts';
import { greetOutpost, type Speaker } from '../../transfer/entry/greeting.ts';
import { Members } from '../../transfer/entry/members.ts';
import { isPass, issuePass, readPass } from '../../transfer/entry/pass.ts';
import { crossings, type Line, type LineCrossing, type LineOptions } from '../../transfer/line.ts';
import { LEASE } from '../../transfer/link.ts';
import { keepDialling } from '../../transfer/redial.ts';
import type { Branch } from '../../transfer/ssh/machine-tree.ts';
import { openSsh, type SshOptions, spoolName } from '../../transfer/ssh/ssh.ts';
import { parseSsh } from '../../transfer/ssh/ssh-target.ts';
import { StreamCarrier } from '../../transfer/stream-carrier.ts';
import { type Door, type DoorVisit, openDoor } from '../../transfer/websocket.ts';
import type { Hello, Welcome } from '../../transfer/wire/messages.ts';
import { PageTables } from '../../transfer/wire/page-table.ts';
import { issuedAt } from '../../transfer/wire/wire-visit-checks.ts';
import { Audit } from '../audit/audit.ts';
import { type AuditFetcher, makeSecondLook } from '../audit/audit-fetcher.ts';
import { Quarantine } from '../audit/quarantine.ts';
import type { Home } from '../home.ts';
import { Membership } from '../membership.ts';
import { signedCode } from '../signed-code.ts';
import { startUnpacker } from '../unpack/unpacker.ts';
import { MachineWatch } from './machines.ts';
import { nobodyToRelyOn, nobodyWorks, OutpostReports } from './outpost-reports.ts';
import { OUTPOSTS_FILE } from './placement.ts';

interface OutpostsOptions {
  /** Of the collection. */
  readonly directory: string;
  readonly software: string;
  readonly userAgent: string;
  /** Whom the owners of sites may ask. */
  readonly contact?: string | undefined;
  readonly agentToken: string;
  readonly clock: Clock;
  /** One sentence for people. */
  readonly say: (text: string) => void;
  readonly ssh?: Pick<SshOptions, 'command'>;
  readonly line?: LineOptions;
  /** Milliseconds that a vanished outpost may take to come back. */
  readonly lease?: number;
  /** What decides about pages, as errands name it; it is signed here and sent to whoever asks. */
  readonly decider?: { readonly digest: string; readonly bytes: Uint8Array };
  /** Share of the pages brought by other machines that home looks at itself; default 0.02. */
  readonly auditShare?: number;
  /** Told now and then how many bytes went to outposts and came from them. */
  readonly crossed?: (line: { readonly up: number; readonly down: number }) => void;
  /** By which the threads of this machine pace addresses together; audits keep to it. */
  readonly slots?: SharedArrayBuffer;
}

const AUDIT_SHARE = 0.02;
/** Milliseconds that a pass may take to be shown at the door. */
const PASS_LASTS = 60_000;
/** Milliseconds between two looks at a page that differs. */
const AUDIT_PAUSE = 10_000;
/** Milliseconds that the end of a run waits for audits. */
const DOUBT = 30_000;
/** Placements in the file that is written every second; the last one has all. */
const SHOWN = 2000;

export class Outposts implements Speaker {
  readonly name = 'home';
  readonly software: string;
  readonly identity: Identity;
  readonly #home: Home;
  readonly #options: OutpostsOptions;
  readonly #members: Members;
  readonly #membership: Membership;
  readonly #carriers = new Map<string, StreamCarrier>();
  readonly #machines = new MachineWatch();
  readonly #quotas = new Map<string, Quota>();
  readonly #unpacker: ReturnType<typeof startUnpacker>;
  readonly #quarantine: Quarantine;
  readonly #secondLook: AuditFetcher;
  readonly audit: Audit;
  readonly #stop = new AbortController();
  readonly #started: number;
  readonly #reports: OutpostReports;
  #door: Door | undefined;
  /** Bytes to and from outposts that the account does not have yet. */
  #crossed = { up: 0, down: 0 };
  /** Since when a run has had nothing left to do but wait for audits. */
  #doubtful: number | undefined;
  #writing: NodeJS.Timeout | undefined;
  /** Outposts that were not let in. */
  refusals = 0;
  visitor: DoorVisit = (_, response) => response.writeHead(404).end();

  constructor(home: Home, options: OutpostsOptions) {
    this.#home = home;
    // Names and reasons come from other machines.
    this.#options = { ...options, say: text => options.say(harmless(text)) };
    this.software = options.software;
    this.#members = new Members(join(options.directory, 'door'));
    this.#membership = new Membership(this.#members);
    this.identity = this.#members.identity();
    this.#started = Math.floor(options.clock.now());
    this.#unpacker = startUnpacker(options);
    this.#quarantine = new Quarantine(options.directory);
    this.#reports = new OutpostReports(this.#options.say);
    this.#secondLook = makeSecondLook(options);
    crossings.subscribe(this.#count);
    this.audit = new Audit({
      share: options.auditShare ?? AUDIT_SHARE,
      pause: AUDIT_PAUSE,
      random: Math.random,
      now: () => this.now(),
      look: errand => this.#secondLook.look(errand),
      quarantine: (outpost, since, why) => this.#distrust(outpost, since, why),
    });
  }

  now(): number {
    return this.#options.clock.now();
  }

  readonly #count = (crossing: unknown): void => {
    const { way, bytes } = crossing as LineCrossing;
    this.#crossed[way === 'out' ? 'up' : 'down'] += bytes;
  };

  get door(): Door | undefined {
    return this.#door;
  }

  /** Dials the machines and opens the door. Throws what keeps one of them from being used at all. */
  async open(trees: readonly Branch[], listen?: { readonly host: string; readonly port: number }): Promise<void> {
    if (listen) {
      const come = (stream: Duplex) => this.#comes(stream);
      this.#door = await openDoor(listen, this.#members.certificate(), come, (...both) => this.visitor(...both));
    }
    await Promise.all(trees.map(tree => this.#dial(tree)));
    const nobody = this.#nobodyLeft();
    if (nobody) throw nobody;
    for (const tree of trees) void this.#keep(tree);
    const absence = setTimeout(() => this.#home.reception.giveUpAbsent(), this.#options.lease ?? LEASE);
    absence.unref();
    this.#writing = setInterval(() => {
      if (this.#home.dispatch.posts.stuck) this.#home.fail(nobodyWorks(this.#reports.refusals));
      this.#home.dispatch.rebalance();
      this.#forgive();
      this.#heed();
      this.#settle();
      this.write();
    }, 1000);
    this.#writing.unref();
    this.write();
  }

  /** Ends the dialling, takes leave of all, and closes the door: outposts that hear nothing would send all again. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#writing);
    this.write();
    await Promise.all([...this.#carriers.values()].map(carrier => carrier.close()));
    await this.#door?.close();
    await this.#unpacker.close();
    await this.#secondLook.close();
    crossings.unsubscribe(this.#count);
    this.#settle();
  }

  /** Enters into the account what has crossed the lines since the last time. */
  #settle(): void {
    this.#options.crossed?.(this.#crossed);
    this.#crossed = { up: 0, down: 0 };
  }

  /** Tells other processes how the machines do. */
  write(): void {
    const { dispatch } = this.#home;
    const now = Date.now();
    const state = {
      time: now,
      running: !this.#stop.signal.aborted,
      listening: this.#door ? `${this.#door.host}:${this.#door.port}` : '',
      refusals: this.refusals,
      machines: this.#machines.look(dispatch.posts.atWork(), now),
      quarantined: Object.fromEntries(this.#quarantine.all),
      placements: dispatch.placements.newest(this.#stop.signal.aborted ? Number.POSITIVE_INFINITY : SHOWN),
    };
    const file = join(this.#options.directory, OUTPOSTS_FILE);
    try {
      replaceFile(file, JSON.stringify(state), PRIVATE);
    } catch {
      // Only for people who watch; a full disk is reported by whoever stores pages.
    }
  }

  async #dial({ url, below }: Branch): Promise<void> {
    const target = parseSsh(url);
    const { software, ssh, line, say } = this.#options;
    const sent = (bytes: number) => {
      this.#crossed.up += bytes;
    };
    const spool = spoolName(this.identity.key, url);
    const stream = await openSsh(target, { software, spool, below, sent, say, ...ssh });
    const greeted = await greetOutpost(stream, this, () => this.#welcome([], {}), line);
    this.#attach({ ...greeted.hello, name: url, servers: [] }, greeted.line, {});
  }

  #keep(tree: Branch): Promise<void> {
    const { clock, say } = this.#options;
    const { url } = tree;
    return keepDialling({
      clock,
      stop: this.#stop.signal,
      connected: () => this.#carriers.get(url)?.presence.connected ?? false,
      dial: () => this.#dial(tree),
      back: () => say(`The connection to ${url} is back.`),
      failed: message => say(`${message} Trying again.`),
    });
  }

  async #comes(stream: Duplex): Promise<void> {
    let name = '';
    let quota: QuotaTerms = {};
    let stands = false;
    let branch: StreamCarrier | undefined;
    const admit = (hello: Hello): Welcome => {
      if (isPass(hello.token)) {
        [branch, name] = this.#passed(hello);
        return this.#welcome([], {});
      }
      const member = this.#members.admit(hello, this.now());
      name = this.#membership.saw(member.name);
      ({ quotas: quota, stands } = member);
      return this.#welcome(member.servers, quota);
    };
    const greeted = await greetOutpost(stream, this, admit, this.#options.line).catch(error => {
      this.#turnedAway(error);
      throw error;
    });
    const { line, hello, answer } = greeted;
    if (branch) return branch.direct.attach(line, name, hello.key);
    this.#attach({ ...hello, name, servers: answer.servers }, line, quota, stands);
    this.#options.say(`The outpost ${name} is here.`);
  }

  /** Whose branch an outpost belongs to that shows a pass, and its way from there. Throws 'refused'. */
  #passed({ token, key }: Hello): [StreamCarrier, string] {
    const { path } = readPass(token, { key, home: this.identity.key, now: this.now() });
    const [name = '', ...by] = path.split('/');
    const carrier = this.#carriers.get(name);
    if (carrier && this.#quarantine.reason(name) === undefined) return [carrier, by.join('/')];
    throw new SkeinError('refused', `${path} cannot deliver directly: ${name} is away or quarantined.`);
  }

  /** Undefined: home does not know where it can be found from outside. */
  #pass(name: string, by: string, key: string): string | undefined {
    const address = this.#door && this.#members.all().find(member => member.name === name)?.address;
    if (!address) return undefined;
    const fingerprint = fingerprintOf(this.#members.certificate().certificate);
    const expires = this.now() + PASS_LASTS;
    return issuePass(this.identity, { ...address, fingerprint, path: `${name}/${by}`, expires }, key);
  }

  /** Tells of an outpost that wanted to come in and could not; whoever speaks no Skein at all is passed over. */
  #turnedAway(error: unknown): void {
    if (this.#reports.turnedAway(error)) this.refusals++;
  }

  #attach(hello: Hello, line: Line, terms: QuotaTerms, stands = false): void {
    const { lease, decider } = this.#options;
    const { identity } = this;
    const { name } = hello;
    let carrier = this.#carriers.get(name);
    const expected = this.#home.dispatch.posts.errandsOf(name);
    if (!carrier) {
      const quota = new Quota(`${this.#tablesOf(name)}-quota.json`, terms);
      this.#quotas.set(name, quota);
      carrier = new StreamCarrier(
        {
          name,
          identity,
          unpacker: this.#unpacker,
          tables: new PageTables(this.#tablesOf(name)),
          code: digest => signedCode(digest, { identity, decider, version: this.#started, now: this.now() }),
          pass: (by, key) => this.#pass(name, by, key),
          allowance: {
            exhausted: () => quota.exhausted(this.now()),
            admit: errand => quota.admit(errand, this.now()),
            end: errand => quota.end(errand),
          },
          ...(lease !== undefined && { lease }),
        },
        this.#receiver,
      );
      const distrust = this.#quarantine.reason(name);
      if (distrust !== undefined) carrier.quarantine(distrust);
      this.#carriers.set(name, carrier);
      this.#home.dispatch.join(carrier);
    }
    carrier.attach(line, hello, expected, stands);
  }

  /** An outpost lied. Whoever stands behind it was chosen by it, so the whole branch goes. */
  #distrust(name: string, since: number, why: string): void {
    this.#quarantine.add(name, why);
    this.#carriers.get(name)?.quarantine(why);
    const said = (pages: number) =>
      `The outpost ${name} is quarantined: ${why}. Its ${pages} pages will be visited again.`;
    this.#home.disown(name, since).then(
      pages => this.#options.say(said(pages)),
      () => this.#options.say(said(0)), // this run has ended: the next one finds the outpost in quarantine
    );
    const nobody = this.#nobodyLeft();
    if (nobody) this.#home.fail(nobody);
  }

  /** Undefined while some machine can be relied on, or may still come. */
  #nobodyLeft(): SkeinError | undefined {
    const { carriers } = this.#home.dispatch.posts;
    if (this.#door || carriers.some(({ status }) => status?.state !== 'quarantined')) return undefined;
    return nobodyToRelyOn();
  }

  /** Whoever was taken out of the file is trusted again. */
  #forgive(): void {
    const before = [...this.#quarantine.all.keys()];
    this.#quarantine.read();
    for (const name of before) {
      if (this.#quarantine.reason(name) !== undefined) continue;
      this.audit.forgive(name);
      this.#carriers.get(name)?.quarantine('');
      this.#options.say(`The outpost ${name} is trusted again.`);
    }
  }

  /** The last pages brought are being checked: a run waits for that, but not for ever. */
  doubts(): boolean {
    if (this.audit.open === 0) this.#doubtful = undefined;
    else this.#doubtful ??= this.now();
    if (this.#doubtful === undefined) return false;
    return this.now() - this.#doubtful < DOUBT;
  }

  /** Members may have been limited or revoked, in another process. */
  #heed(): void {
    for (const { name, terms } of this.#membership.changes()) {
      const carrier = this.#carriers.get(name);
      carrier?.disconnect(terms ? 'its terms have changed' : 'it was revoked', terms !== undefined);
      if (terms) this.#quotas.get(name)?.change(terms.quotas);
    }
  }

  #tablesOf(name: string): string {
    return join(this.#options.directory, 'outposts', hash('sha256', name).slice(0, 24));
  }

  readonly #receiver: Receiver = {
    parcel: (from, parcel, by) => {
      const errand = this.#home.dispatch.posts.sent(from, parcel.errand)?.errand;
      const since = Math.min(...this.#home.dispatch.posts.errandsOf(from.name).map(issuedAt)) - 1;
      if (errand) this.audit.offer(from.name, errand, parcel.visits, since);
      const quota = this.#quotas.get(from.name);
      if (quota?.spend(parcel.errand, usedBy(parcel.visits), this.now())) from.recall();
      this.#home.reception.parcel(from, parcel, by);
    },
    taken: (from, errand) => this.#home.reception.taken(from, errand),
    broken: (from, why) => this.audit.broken(from.name, why),
    gaveUp: (from, errand, why) => {
      this.#reports.gaveUp(from.name, why);
      this.#home.reception.gaveUp(from, errand);
    },
    changed: from => {
      this.#reports.changed(from);
      this.#home.reception.changed(from);
    },
    lost: (from, why) => {
      if (this.#carriers.get(from.name) === from) this.#carriers.delete(from.name);
      this.#options.say(`The outpost ${from.name} is lost: ${why}. Other machines get its errands.`);
      this.#home.reception.lost(from, why);
    },
  };

  #welcome(servers: readonly string[], { pages = 0, bytes = 0 }: QuotaTerms): Welcome {
    const { contact = '' } = this.#options;
    const { key: home } = this.identity;
    return { home, contact, servers, pagesADay: pages, bytesADay: bytes, level: 1 };
  }
}
