/**
 * The carrier to an outpost on another machine. It signs and packs errands on the way out, and has parcels unpacked and checked
 * on the way in. ssh and WebSocket differ only in how they open its lines.
 */
import type { SkeinError } from '../base/errors.ts';
import type { Errand } from '../errand/errand.ts';
import { packFacts, unpackFacts } from '../errand/facts.ts';
import type { Identity } from '../errand/keys.ts';
import type { Parcel } from '../errand/parcel.ts';
import { encodeWarrant, issueWarrant } from '../errand/warrant.ts';
import type { Carrier, CarrierPresence, CarrierTerms, Receiver } from './carrier.ts';
import { DirectLines } from './direct-lines.ts';
import type { Line } from './line.ts';
import { Link } from './link.ts';
import type { CodeFrame, ErrandFrame, ParcelFrame } from './wire/frames.ts';
import type { Hello, OutpostStatus } from './wire/messages.ts';
import { type PageTables, UNKNOWN_PAGES } from './wire/page-table.ts';
import { packErrand } from './wire/parcel-format.ts';

/** Opens parcels that refer to what home holds. `begin` and `end` say which errands they may belong to. */
export interface Unpacker {
  begin(errand: Errand): void;
  end(errand: string): void;
  unpack(frame: Pick<ParcelFrame, 'errand' | 'sequence' | 'done' | 'bytes'>): Promise<Parcel>;
}

/** What an outpost may do in a day, by its parent's count. */
interface DayAllowance {
  /** Why it may do no more today; empty = it may. */
  exhausted(): string;
  /** As much of the errand as the allowance permits; throws 'refused' if that is nothing. */
  admit(errand: Errand): Errand;
  end(errand: string): void;
}

interface StreamCarrierOptions {
  readonly name: string;
  /** Home's own key: warrants are signed with it. */
  readonly identity: Identity;
  /** Milliseconds. */
  readonly lease?: number;
  readonly unpacker: Unpacker;
  /** What the outpost remembers of pages; without it errands say everything each time. */
  readonly tables?: PageTables;
  /** Code that errands name, with what was signed about it; undefined = it is not here. */
  readonly code?: (digest: string) => Pick<CodeFrame, 'terms' | 'bytes'> | undefined;
  /** Without one there is no limit. */
  readonly allowance?: DayAllowance;
  /** A pass for the outpost below at `by`, which holds this key, to deliver its parcels here directly; undefined = none. */
  readonly pass?: (by: string, key: string) => string | undefined;
  /** Ends what brings the lines. */
  readonly onClose?: () => Promise<void> | void;
}

export class StreamCarrier implements Carrier {
  readonly name: string;
  readonly remote = true;
  readonly #options: StreamCarrierOptions;
  readonly #receiver: Receiver;
  readonly #link: Link;
  /** Lines of outposts below it, on which parcels come without passing through it. */
  readonly direct: DirectLines;
  #terms: CarrierTerms = { servers: [], stands: false };
  /** Last parcel of each errand that was opened, taken or not. */
  readonly #opened = new Map<string, number>();
  /** Servers whose pages must come whole, because home no longer has the versions that the outpost refers to. */
  readonly #whole = new Set<string>();
  readonly #errands = new Map<string, Errand>();
  #turn: Promise<void> = Promise.resolve();
  #distrust = '';

  constructor(options: StreamCarrierOptions, receiver: Receiver) {
    this.name = options.name;
    this.#options = options;
    this.#receiver = receiver;
    this.#link = new Link(
      options.name,
      {
        parcel: (_, frame) => this.#parcel(frame),
        gaveUp: (_, errand, why) => this.#inTurn(() => this.#gaveUp(errand, why)),
        wantsCode: (link, code) => link.answer({ kind: 'code', code, ...(options.code?.(code) ?? NO_CODE) }),
        wantsPass: (link, { by, key }) => this.#pass(link, by, key),
        changed: () => this.#receiver.changed(this),
        lost: (_, why) => {
          this.direct.close(why);
          this.#receiver.lost(this, why);
        },
      },
      { away: options.lease },
    );
    this.direct = new DirectLines(options.identity.key, {
      parcel: frame => this.#parcel(frame),
      gaveUp: (errand, why) => this.#inTurn(() => this.#gaveUp(errand, why)),
    });
  }

  get room(): number {
    return this.#distrust === '' && this.#exhausted() === '' ? this.#link.outpost.room : 0;
  }

  #exhausted(): string {
    return this.#options.allowance?.exhausted() ?? '';
  }

  /** Sends it no more errands, for this reason; an empty reason ends the quarantine. */
  quarantine(why: string): void {
    this.#distrust = why;
    if (why !== '') this.direct.close('a machine above it is quarantined');
  }

  /** `mayReturn`: it shall connect again, by other terms. */
  disconnect(why: string, mayReturn: boolean): void {
    if (mayReturn) {
      this.#link.renew(why);
      return;
    }
    this.direct.close(why);
    this.#link.dismiss(why);
  }

  #pass(link: Link, by: string, key: string): void {
    const pass = this.#distrust === '' && by !== '' ? this.#options.pass?.(by, key) : undefined;
    if (pass !== undefined) link.answer({ kind: 'pass', by, pass });
  }

  get terms(): CarrierTerms {
    return this.#terms;
  }

  get presence(): CarrierPresence {
    return this.#link.outpost;
  }

  get status(): OutpostStatus {
    const { status } = this.#link.outpost;
    const exhausted = this.#exhausted();
    if (this.#distrust === '' && exhausted !== '')
      return { ...status, state: 'full', trouble: `It has reached its limit for today: ${exhausted}.` };
    if (this.#distrust === '') return status;
    return { ...status, state: 'quarantined', trouble: `It is quarantined: ${this.#distrust}.` };
  }

  /** Begins to use a new line. `expected`: errands that an earlier run of home sent there. `stands`: see CarrierTerms. */
  attach(line: Line, hello: Hello, expected: readonly Errand[] = [], stands = false): void {
    this.#terms = { servers: hello.servers, stands };
    this.#link.expect(expected.map(errand => this.#frame(errand, hello.key)));
    this.#link.attach(line, hello);
  }

  send(errand: Errand): void {
    try {
      const allowed = this.#options.allowance?.admit(errand) ?? errand;
      this.#link.send(this.#frame(allowed, this.#link.outpost.hello!.key));
    } catch (error) {
      // Errands that were sent in the same moment have used up the allowance of the day.
      this.#inTurn(() => this.#receiver.gaveUp(this, errand.id, (error as Error).message));
    }
  }

  acknowledge(errand: string, sequence: number): void {
    this.#link.acknowledge(errand, sequence);
    this.direct.acknowledge(errand, sequence);
  }

  forget(errand: string): void {
    this.#link.forget(errand);
    this.direct.ended(errand, this.#opened.get(errand));
    this.#options.unpacker.end(errand);
    this.#options.tables?.end(errand);
    this.#options.allowance?.end(errand);
    this.#opened.delete(errand);
    this.#errands.delete(errand);
  }

  recall(): void {
    this.#link.recall();
  }

  async close(): Promise<void> {
    this.direct.close('home has no more work');
    await this.#link.close('home has no more work');
    this.#options.tables?.save();
    await this.#options.onClose?.();
  }

  #frame(given: Errand, receiver: string): ErrandFrame {
    const { unpacker, identity } = this.#options;
    const tables = this.#mayPassOn(given) ? undefined : this.#options.tables;
    const table = tables?.of(given.server.origin);
    const whole = this.#whole.has(given.server.origin) ? withoutVersions(given) : given;
    const errand = table ? { ...whole, pages: table.sort(whole.pages) } : whole;
    const bytes = packErrand(errand, table);
    unpacker.begin(errand);
    tables?.begin(errand);
    this.#errands.set(errand.id, given);
    const terms = { errand: errand.id, levels: errand.levels, deadline: errand.deadline, bytes };
    const warrant = encodeWarrant(issueWarrant(identity, terms, receiver));
    return { kind: 'errand', errand: errand.id, warrant, bytes };
  }

  /** The errand may go on to an outpost below, which does not have this one's page table. */
  #mayPassOn(errand: Errand): boolean {
    return errand.levels > 0 && (!this.#link.outpost.told || this.#link.outpost.status.outposts.length > 0);
  }

  #gaveUp(id: string, why: string): void {
    const errand = this.#errands.get(id);
    const { hello, connected } = this.#link.outpost;
    if (why !== UNKNOWN_PAGES || !errand || !hello || !connected) {
      this.#receiver.gaveUp(this, id, why);
      return;
    }
    this.#options.tables?.reset(errand.server.origin);
    this.#link.send(this.#frame(errand, hello.key));
  }

  /** Passes parcels and messages on in the order in which they came, although unpacking takes a while. */
  #inTurn(work: () => Promise<void> | void): void {
    this.#turn = this.#turn.then(work).catch(error => {
      // Nothing above throws on purpose; a bug must not block everything that follows.
      process.emitWarning(error as Error);
    });
  }

  #parcel(frame: ParcelFrame): void {
    const { errand, sequence, done } = frame;
    const by = frame.by === '' ? this.name : `${this.name}/${frame.by}`;
    const seen = sequence <= (this.#opened.get(errand) ?? -1);
    if (!seen) this.#opened.set(errand, sequence);
    this.#inTurn(async () => {
      // A parcel that home has already taken may refer to versions that are gone, so it is not unpacked: its name is enough.
      const again = sequence <= (this.#receiver.taken?.(this, errand) ?? -1);
      if (seen && !again) return; // it waits to be taken
      try {
        const parcel = again ? { ...NOTHING, errand, sequence, done } : await this.#options.unpacker.unpack(frame);
        this.#options.tables?.learn(errand, parcel.visits);
        this.#receiver.parcel(this, parcel, by);
      } catch (error) {
        this.#refuse(errand, error as Error);
      }
    });
  }

  /** Ends the errand of a bad parcel, whose pages are requested again; else the parcel would come at every reconnection. */
  #refuse(errand: string, error: Error): void {
    const { code } = error as SkeinError;
    if (code === 'not-found') this.#whole.add(this.#errands.get(errand)?.server.origin ?? '');
    else if (code === 'bad-frame') this.#receiver.broken?.(this, error.message);
    this.#receiver.gaveUp(this, errand, error.message);
  }
}

const NO_CODE = { terms: new Uint8Array(), bytes: new Uint8Array() } as const;
const NOTHING = { visits: [], members: new Uint8Array() } as const;

/** Removes the versions from the facts, so that the outpost refers to none. */
function withoutVersions(errand: Errand): Errand {
  const pages = errand.pages.map(known => {
    const facts = known.facts && unpackFacts(known.facts);
    return facts ? { ...known, facts: packFacts({ ...facts, raw: new Uint8Array(16) }) } : known;
  });
  return { ...errand, pages };
}
