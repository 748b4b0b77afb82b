/**
 * An outpost on another machine. Errands come down a line and run in the threads here, or go on to outposts below; parcels go
 * up through the spool. The line may break and come back at any time: the outpost finishes the errands that it has taken, and
 * keeps their parcels on disk until home has each of them once.
 *
 * It obeys one home, whose key begins every warrant, and the owner of the machine before that home: servers and private
 * addresses that the owner did not open stay closed whatever an errand says. It never decides what is crawled.
 */

import { DAY } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { AGENT_TOKEN, userAgent } from '../errand/agent.ts';
import { checkErrand } from '../errand/codec/errand-checks.ts';
import type { Identity } from '../errand/keys.ts';
import { deadlineOf, levelsLeft, readWarrant, type Warrant } from '../errand/warrant.ts';
import type { Greeted, OutpostWords, Speaker } from '../transfer/entry/greeting.ts';
import type { Line } from '../transfer/line.ts';
import type { ByeCode, ErrandFrame, Frame, ParcelFrame } from '../transfer/wire/frames.ts';
import type { OutpostStatus, Welcome } from '../transfer/wire/messages.ts';
import { PageTables } from '../transfer/wire/page-table.ts';
import { isRecoded, packErrand, unpackErrand } from '../transfer/wire/parcel-format.ts';
import { CodeStore } from './cages/code.ts';
import { CodeDesk } from './cages/code-desk.ts';
import { Children } from './children.ts';
import { DirectLine } from './direct-line.ts';
import { Ended } from './ended-errands.ts';
import { type ChangeableTerms, Owner } from './owner/owner.ts';
import type { StationOptions } from './service-options.ts';
import { Spool } from './spool.ts';
import { StatusSender } from './status-sender.ts';
import { Uplink } from './uplink.ts';
import { WorkerPool } from './workers/worker-pool.ts';
import type { WorkerParcel } from './workers/worker-thread.ts';

/** Pages that a thread may have under way. */
const THREAD_ROOM = 4096;
const CACHE_BYTES = 512 << 20;
/** Milliseconds; clocks that differ by less are left alone. */
const SAME_TIME = 1000;
/** Longest validity of a warrant (ms); ended errands are remembered for as long. */
const LONGEST_ERRAND = 31 * DAY;

export class OutpostService implements Speaker {
  readonly name: string;
  readonly software: string;
  readonly identity: Identity;
  readonly spool: Spool;
  readonly children: Children;
  readonly #options: StationOptions;
  readonly #tables: PageTables;
  readonly #owner: Owner;
  readonly #ended: Ended;
  readonly #uplink: Uplink;
  readonly #direct: DirectLine;
  readonly #statusSender = new StatusSender();
  readonly #shift = new SharedArrayBuffer(8);
  readonly #beat: NodeJS.Timeout;
  #workers: WorkerPool | undefined;
  #codes: CodeDesk | undefined;
  /** Errands that wait for their code. */
  readonly #arriving = new Set<string>();
  #welcome: Welcome | undefined;
  #counts = { pages: 0, errors: 0, last: 0, rate: 0 };
  #trouble = '';
  #said = '';

  constructor(options: StationOptions) {
    this.#options = options;
    this.name = options.name;
    this.software = options.software;
    this.identity = options.identity;
    this.spool = new Spool(options.directory, options.spoolBytes);
    this.#tables = new PageTables(`${options.directory}-pages`);
    this.#ended = new Ended(`${options.directory}-ended`, options.clock.now());
    this.#owner = new Owner(options, `${options.directory}-quota.json`);
    this.#uplink = new Uplink(this.spool, () => this.#workers?.looking ?? false);
    this.children = new Children(options, {
      relay: frame => this.#relay(frame),
      gaveUp: (errand, why) => this.#uplink.giveUp(errand, why),
      wantsCode: (link, code) => void this.#codes?.pass(link, code),
      wantsPass: frame => this.#uplink.line?.send(frame),
    });
    this.#direct = new DirectLine({
      speaker: this,
      dial: options.dial,
      place: () => this.#welcome,
      ask: frame => this.#uplink.line?.send(frame),
      opened: line => this.#uplink.goStraight(line),
      acknowledged: (errand, sequence) => this.#acknowledge(errand, sequence),
    });
    this.#restore();
    this.#beat = setInterval(() => this.#tell(), 1000);
  }

  /** Home's time. */
  now(): number {
    return this.#options.clock.now() + new Float64Array(this.#shift)[0]!;
  }

  /** Level below home; children are one deeper. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** What it tells its parent about itself. */
  words(token = ''): OutpostWords {
    const { threads, servers } = this.#options;
    return {
      token,
      cores: threads,
      room: this.#room,
      platform: `${process.platform}-${process.arch}`,
      servers,
      holding: [...this.spool.errands.keys()],
    };
  }

  /** Serves one line until it ends. */
  serve({ line, hello, answer }: Greeted<Welcome>): Promise<{ why: string; said: ByeCode | undefined }> {
    const behind = hello.time - this.#options.clock.now();
    new Float64Array(this.#shift)[0] = Math.abs(behind) > SAME_TIME ? behind : 0;
    this.#welcome = answer;
    this.#owner.narrow(answer);
    if (this.spool.errands.size === 0) this.#trouble = ''; // it was about work that has ended
    this.#workers ??= this.#makeWorkers(answer);
    this.#codes ??= this.#makeDesk(answer);
    return new Promise(resolve => {
      line.listen({
        frame: frame => this.#take(frame, line),
        ended: (_, why, said) => {
          this.#uplink.detach(line);
          resolve({ why, said });
        },
      });
      this.#uplink.attach(line);
      this.#codes?.resend();
      for (const link of this.children.all()) link.resend();
      this.#tell();
    });
  }

  #makeWorkers({ contact }: Welcome): WorkerPool {
    const { directory, threads, cacheBytes = CACHE_BYTES, code, outpost, trustRobots = false } = this.#options;
    const cache = { directory: `${directory}-versions`, bytes: cacheBytes };
    const agent = { userAgent: userAgent(this.software, contact), agentToken: AGENT_TOKEN };
    const { ceilings, meter } = this.#owner;
    return new WorkerPool(
      threads,
      {
        ...agent,
        clockShift: this.#shift,
        cache,
        trustRobots,
        sandbox: code,
        ceilings,
        meter: meter.shared,
        ...outpost,
      },
      {
        parcel: parcel => void this.#spoolParcel(parcel),
        failed: (errand, why) => this.#refused(errand, why),
        trouble: text => this.note(text),
      },
    );
  }

  #makeDesk({ home }: Welcome): CodeDesk {
    const { directory, code } = this.#options;
    return new CodeDesk({
      store: new CodeStore(`${directory}-code`, code.trusted ? [home] : []),
      now: () => this.now(),
      ask: digest => this.#uplink.line?.send({ kind: 'want-code', code: digest }),
    });
  }

  get status(): OutpostStatus {
    const { pages, errors, rate } = this.#counts;
    const { spent } = this.#owner;
    return {
      name: this.name,
      state: this.spool.full || spent !== '' ? 'full' : 'working',
      errands: this.spool.errands.size,
      pages,
      rate,
      bytes: this.#uplink.bytes,
      queue: this.#workers?.queue ?? 0,
      spooled: this.spool.bytes,
      errors,
      trouble: this.spool.trouble || spent || this.#trouble,
      room: this.#room,
      heard: this.now(),
      outposts: this.children.statuses,
    };
  }

  /** The owner has changed the rules. */
  change(terms: ChangeableTerms): void {
    this.#owner.change(terms);
    this.#workers?.limit(this.#owner.ceilings);
  }

  /** Ends the errands under way; resolves when their parcels are in the spool. */
  async recall(): Promise<void> {
    this.#workers?.recall();
    while ((this.#workers?.errands ?? 0) > 0) await this.#options.clock.sleep(20);
    await this.spool.settle();
  }

  /** Ends everything here; parcels in the spool stay there. */
  async close(): Promise<void> {
    clearInterval(this.#beat);
    this.#owner.collect();
    this.#codes?.close();
    this.#direct.close();
    await this.#workers?.close();
    await this.children.close();
    await this.spool.settle();
    this.#tables.save();
  }

  get #room(): number {
    return this.#options.threads * THREAD_ROOM + this.children.room;
  }

  /** Errands of an earlier process cannot continue; their parcels in the spool are delivered. */
  #restore(): void {
    for (const { frame, to, ended } of this.spool.errands.values()) {
      if (to !== '') this.children.expect(to, frame);
      else if (!ended) this.#uplink.giveUp(frame.errand, 'the outpost was restarted');
    }
  }

  #take(frame: Frame, line: Line): void {
    if (frame.kind === 'errand') void this.#receive(frame, line);
    if (frame.kind === 'code') this.#codes?.arrived(frame);
    if (frame.kind === 'recall') {
      this.#workers?.recall();
      for (const link of this.children.all()) link.recall();
    }
    if (frame.kind === 'resend') {
      this.#uplink.resend();
      this.#direct.hope();
      for (const link of this.children.all()) link.resend();
    }
    if (frame.kind === 'acknowledge') this.#acknowledge(frame.errand, frame.sequence);
    if (frame.kind === 'pass') void (frame.by === '' ? this.#direct.arrived(frame.pass) : this.children.pass(frame));
    if (frame.kind === 'forget') {
      const taken = this.spool.errands.get(frame.errand);
      if (taken) this.#ended.add(frame.errand, deadlineOf(taken.frame.warrant), this.now());
      this.#workers?.cancel(frame.errand);
      this.children.forget(frame.errand);
      this.#uplink.forget(frame.errand);
      this.spool.forget(frame.errand);
      this.#owner.end(frame.errand);
      this.#tables.end(frame.errand);
      this.#arriving.delete(frame.errand);
      this.#regulate();
    }
  }

  #acknowledge(errand: string, sequence: number): void {
    if (this.children.has(errand)) this.children.acknowledge(errand, sequence);
    else this.spool.acknowledge(errand, sequence);
    this.#regulate();
  }

  async #receive(frame: ErrandFrame, line: Line): Promise<void> {
    // It came before the line broke.
    if (this.spool.errands.has(frame.errand) || this.#arriving.has(frame.errand)) return;
    this.#arriving.add(frame.errand);
    try {
      const holder = { key: this.identity.key, home: this.#welcome!.home, now: this.now() };
      const warrant = readWarrant(frame, holder);
      if (this.#ended.has(frame.errand))
        throw new SkeinError('refused', 'The errand is refused: it has already ended here.');
      if (warrant.deadline > this.now() + LONGEST_ERRAND) {
        throw new SkeinError('refused', 'The errand is refused: its warrant is valid for too long.');
      }
      if (this.spool.full) throw new SkeinError('disk-full', this.spool.trouble);
      await this.#start(frame, warrant);
    } catch (error) {
      this.note((error as Error).message);
      (this.#uplink.line ?? line).send({ kind: 'give-up', errand: frame.errand, why: this.#trouble });
    } finally {
      this.#arriving.delete(frame.errand);
    }
  }

  /** Notes the last thing that went wrong, for the status of this machine. */
  note(trouble: string): void {
    this.#trouble = trouble.slice(0, 300);
    const { line } = this.#uplink;
    if (line) this.#statusSender.tell(line, this.status);
  }

  #refused(errand: string, why: string): void {
    this.note(why);
    this.#uplink.giveUp(errand, why.slice(0, 300));
  }

  async #start(frame: ErrandFrame, warrant: Warrant): Promise<void> {
    const loads = this.spool.loads();
    const own = (loads.get('') ?? 0) / (this.#options.threads * THREAD_ROOM);
    const origin = () => unpackErrand(frame.bytes, this.#tables).server.origin;
    // An errand that was packed against this outpost's page table can be opened only here.
    const may = levelsLeft(warrant) > 0 && !isRecoded(frame.bytes);
    const child = may ? this.children.choose(own, loads, origin) : undefined;
    const further = child && this.children.extend(child, frame, warrant);
    if (child && further) {
      await this.spool.take(further, child.name);
      return this.children.send(child, further);
    }
    const asked = checkErrand(unpackErrand(frame.bytes, this.#tables));
    if (asked.id !== frame.errand)
      throw new SkeinError('bad-frame', 'The name of an errand differs from the one in its warrant.');
    const errand = this.#owner.admit(asked, this.#workers!.errands);
    this.#tables.begin(asked); // as home knows it
    const code = errand.code === undefined ? undefined : (await this.#codes!.get(errand.code)).bytes;
    if (!this.#arriving.has(errand.id)) return; // forgotten while its code was on its way
    await this.spool.take(frame, '');
    this.#direct.want();
    this.#workers!.send(errand, packErrand(errand), code);
  }

  async #spoolParcel(parcel: WorkerParcel): Promise<void> {
    this.#counts.pages += parcel.visits;
    this.#counts.errors += parcel.errors;
    const { errand, sequence, done, visits, bytes } = parcel;
    if (!this.spool.errands.has(errand)) return; // home has forgotten it
    this.#tables.learn(errand, parcel.lessons);
    this.#owner.delivered(errand, parcel.lessons.length);
    if (done) this.#owner.end(errand);
    const spooled = await this.spool.put({ kind: 'parcel', errand, sequence, done, visits, by: '', bytes });
    this.#regulate();
    this.#uplink.parcel(spooled);
  }

  /** Passes a child's parcel up at once. A slow line holds the children back, so that memory does not fill up here. */
  #relay(frame: ParcelFrame): void {
    const { line } = this.#uplink;
    if (!line || line.send(frame)) return;
    for (const link of this.children.all()) link.hold();
    void line.drained().then(() => {
      for (const link of this.children.all()) link.go();
    });
  }

  #regulate(): void {
    this.#workers?.hold(this.spool.full);
  }

  #tell(): void {
    if (this.#owner.collect()) this.#workers?.recall();
    const { pages, last, rate } = this.#counts;
    this.#counts.rate = Math.round((rate * 0.7 + (pages - last) * 0.3) * 10) / 10;
    this.#counts.last = pages;
    void this.spool.retry().then(() => this.#regulate());
    const { status } = this;
    this.#complain(status.state === 'full' ? status.trouble : '');
    const idle = this.spool.errands.size === 0;
    this.#uplink.calm(idle);
    if (!idle) this.#direct.want();
    if (this.#uplink.line) this.#statusSender.tell(this.#uplink.line, status);
  }

  /** Says once why it takes no more errands. */
  #complain(trouble: string): void {
    if (this.#said === trouble) return;
    this.#said = trouble;
    this.#options.say?.(
      trouble === '' ? 'Accepting errands again: there is room.' : `Accepting no errands for now: ${trouble}`,
    );
  }
}
