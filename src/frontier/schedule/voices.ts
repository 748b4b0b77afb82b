/**
 * What the notices of a server count for: each kind (its sitemap, its feed, a hub …) has a voice of its own, as loud as
 * visits have shown it to be true. A voice that lies moves next to nothing, and does not make the others quieter. Where
 * several kinds tell of one change it is one change: the loudest counts.
 *
 * Silence is judged for the server as a whole, whoever was silent: pages that nobody names are looked at all the same,
 * as seldom as recall allows and once in the longest interval at least. Of pages of which a site never tells, though it
 * tells of others, its silence says nothing, and they say nothing of its silence.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isUnspoken, type KnownRow } from '../../ledger/pages/known-row.ts';
import type { ToldNotices } from '../../ledger/schedule/told.ts';
import type { Server } from '../../ledger/servers.ts';
import type { NoticeKind } from '../../notices/notice.ts';
import type { Estimator } from '../../revisit/estimators/port.ts';
import { learnPing, type PingRecord, pingPrecision, pingWorth, silenceRecall } from '../../revisit/pings.ts';
import { newState, unpackState } from '../../revisit/state.ts';
import { noteTo, pingsOf } from './importance.ts';
import { FIRST } from './waves.ts';

interface Heard {
  /** Of the page. */
  readonly id: number;
  readonly time: number;
  readonly kind: NoticeKind;
  /** It named a content that is not the one we hold. */
  readonly exact: boolean;
}

/** Below this precision a voice that names contents is weighed like one that does not. */
const TAKEN_AT_ITS_WORD = 0.4;

/** A word that turns out to be true though it was less likely than this: are the server's others? */
export const UNLIKELY = 0.5;

/** A visit as far as it judges notices. */
interface ForetoldLook {
  /** Milliseconds. */
  readonly time: number;
  readonly changed: boolean;
  readonly foretold: number;
}

/** What is assumed of the silence of a site that names all contents: as if so many changes had been expected, and missed. */
const TOLD_BY_ALL = { expected: 40, missed: 1 };
/** Share of its changes that a site must have told for a wave to leave the pages alone of which it tells. */
const VOUCHED = 0.9;
/** Milliseconds in which notices are of one batch, and looks that all that came before them count for. */
const BATCH = DAY / 2;
const BEFORE = 2;
/** Milliseconds that it is remembered which servers do. */
const LOOKED_FOR = 10_000;

export class Voices {
  readonly #ledger: Ledger;
  #telling: { readonly contents: ReadonlySet<number>; readonly changes: ReadonlySet<number> } | undefined;
  /** What the last looks at named pages have shown, by server. */
  readonly #batches = new Map<number, { readonly begun: number; readonly looks: number; readonly found: number }>();
  /** What a notice of each server was worth when its pages were last moved by it. */
  readonly #worth = new Map<number, number>();
  #looked = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** A notice came: its page moves forward by what that is worth, so that of all that are due the surest come first. */
  heard(estimator: Estimator, { id, time, kind, exact }: Heard): boolean {
    const { pages, servers, schedule } = this.#ledger;
    const page = pages.get(id);
    const known = pages.known(id);
    if (!page || !known || known.due === null) return false;
    const before = known.pings === 0 ? {} : schedule.told.of(id);
    const now = { ...before, [kind]: (before[kind] ?? 0) + 1 };
    const rate = estimator.rate(known.change ? unpackState(known.change) : newState());
    const server = servers.byId(page.server);
    const certain = exact && pingPrecision(this.#recordOf(server, kind)) >= TAKEN_AT_ITS_WORD;
    const more =
      certain || known.outcome === 'gone'
        ? Number.POSITIVE_INFINITY
        : this.#worthOf(server, now, rate) - this.#worthOf(server, before, rate);
    const due = Math.min(known.due, Math.max((known.seen_time ?? time) - FIRST, known.due - more));
    schedule.told.put(id, now, time);
    // Notices that no kind counts are of an earlier version.
    schedule.due.setPinged(id, Math.max(known.pings, now[kind]!, unnamed(known, before) + 1), due);
    return true;
  }

  /** Probability that one of the notices since its last visit was true. */
  believed(server: Server, { page, pings }: { readonly page: number; readonly pings: number }): number {
    if (pings === 0) return 0;
    let most = 0;
    for (const [kind, count] of Object.entries(this.#toldOf(page, pings))) {
      most = Math.max(most, 1 - (1 - pingPrecision(this.#lately(server, kind))) ** count);
    }
    return most;
  }

  #toldOf(page: number, pings: number): ToldNotices {
    const told = this.#ledger.schedule.told.of(page);
    return Object.keys(told).length > 0 ? told : { ping: pings };
  }

  /**
   * Milliseconds by which the notices since its last visit move a page of this rate forward. A cursor named the content, which
   * was not the one we hold: that page comes first as long as such words are taken as they are, whenever it is moved anew.
   */
  worth(server: Server, { page, pings }: { readonly page: number; readonly pings: number }, rate: number): number {
    const told = this.#toldOf(page, pings);
    const isTaken = told['cursor'] !== undefined && pingPrecision(this.#lately(server, 'cursor')) >= TAKEN_AT_ITS_WORD;
    return isTaken ? Number.POSITIVE_INFINITY : this.#worthOf(server, told, rate);
  }

  /**
   * The share of changes that would have been told, to schedule silent pages by. Where a site names the content of every
   * page, or lists every change, silence is its word that a page is as we hold it: it counts from the start, until visits
   * show otherwise.
   */
  silence(server: Server): number {
    const record = pingsOf(server);
    if (!this.#namesPages(server)) return silenceRecall(record);
    return 1 - Math.min(1, (TOLD_BY_ALL.missed + record.missed) / (TOLD_BY_ALL.expected + record.expected));
  }

  /** The same for one of its pages. */
  told(server: Server, page: { readonly flags: number }): number {
    return isUnspoken(page) ? 0 : this.silence(server);
  }

  /** Its word about each page of which it tells has been true. */
  vouches(server: Server): boolean {
    return this.#faces().contents.has(server.id) && this.silence(server) >= VOUCHED;
  }

  /** A page that is visited for the first time and that its site, which names all that it tells of, has not named. */
  unnamed(server: Server, page: number): boolean {
    const told = this.#ledger.schedule.told.of(page);
    return this.#namesPages(server) && told['cursor'] === undefined && told['resourcesync'] === undefined;
  }

  #namesPages({ id }: Server): boolean {
    const { contents, changes } = this.#faces();
    return contents.has(id) || changes.has(id);
  }

  /** Servers that name all contents, and those that list all changes. Asked for every visit, and answered from memory for a while. */
  #faces(): { readonly contents: ReadonlySet<number>; readonly changes: ReadonlySet<number> } {
    const now = performance.now();
    if (!this.#telling || now - this.#looked > LOOKED_FOR) {
      const { faces } = this.#ledger.schedule;
      this.#telling = { contents: faces.tellingAll(), changes: faces.listingAll() };
      this.#looked = now;
    }
    return this.#telling;
  }

  /** A visit has shown whether those who spoke were right, and what those missed who did not. */
  judged(server: Server, before: KnownRow, { time, changed, foretold }: ForetoldLook): void {
    const { servers } = this.#ledger;
    const { told, noticeTrust } = this.#ledger.schedule;
    const record = pingsOf(server);
    if (before.pings === 0 && (record.pings === 0 || isUnspoken(before))) return;
    if (!this.#worth.has(server.id)) this.#worth.set(server.id, surenessOf(this.#batched(server, record)));
    if (before.pings > 0) this.#countBatch(server.id, time, changed);
    noteTo(server, learnPing(record, { pings: before.pings, changed, foretold }));
    servers.touch(server);
    const named: ToldNotices = before.pings > 0 ? told.of(before.page) : {};
    for (const [kind, pings] of Object.entries(named)) {
      noticeTrust.put(server.id, kind, learnPing(noticeTrust.of(server.id, kind), { pings, changed, foretold }));
    }
    if (before.pings > 0) {
      told.remove(before.page);
      return;
    }
    for (const [kind, row] of noticeTrust.kinds(server.id)) {
      noticeTrust.put(server.id, kind, learnPing(row, { pings: 0, changed, foretold }));
    }
  }

  /**
   * Visits have made its notices worth less than half, or more than twice, of what they were when pages were moved by them,
   * or as likely true as not, by which a page is due: those have to be moved anew. One server's word may name all of its
   * pages.
   */
  turned(server: Server): boolean {
    const worth = surenessOf(this.#batched(server, pingsOf(server)));
    const before = this.#worth.get(server.id) ?? worth;
    const likely = worth >= Math.LN2 && before < Math.LN2;
    const turned = likely || worth > before * 2 || worth < before / 2;
    if (turned) this.#worth.set(server.id, worth);
    return turned;
  }

  /** A page that was named is there no more: so much was true. One that could not be looked at says nothing. */
  gone(server: Server, before: KnownRow | undefined, { outcome, time }: { outcome: string; time: number }): void {
    if (before === undefined || before.pings === 0) return;
    if (outcome === 'gone' || outcome === 'moved') this.judged(server, before, { time, changed: true, foretold: 1 });
    else if (outcome !== 'failed') this.#ledger.schedule.told.remove(before.page);
  }

  #worthOf(server: Server, told: ToldNotices, rate: number): number {
    let most = 0;
    for (const [kind, count] of Object.entries(told)) {
      most = Math.max(most, count * pingWorth(this.#lately(server, kind), rate) * DAY);
    }
    return most;
  }

  #countBatch(server: number, time: number, changed: boolean): void {
    const last = this.#batches.get(server);
    const batch = last && time - last.begun < BATCH ? last : { begun: time, looks: 0, found: 0 };
    this.#batches.set(server, { ...batch, looks: batch.looks + 1, found: batch.found + (changed ? 1 : 0) });
  }

  /** A record with the last looks at named pages: a site that names all of its pages is right about all, or about none. */
  #batched(server: Server, record: PingRecord): PingRecord {
    const { looks, found } = this.#batches.get(server.id) ?? { looks: 0, found: 0 };
    if (looks === 0) return record;
    const precision = (BEFORE * pingPrecision(record) + found) / (BEFORE + looks);
    // As a record that says so.
    return { ...record, pings: looks, confirmed: precision * (4 + looks) - 2 };
  }

  #lately(server: Server, kind: string): PingRecord {
    return this.#batched(server, this.#recordOf(server, kind));
  }

  /** A kind that was never held against a visit is as good as its server's others. */
  #recordOf(server: Server, kind: string): PingRecord {
    const own = this.#ledger.schedule.noticeTrust.of(server.id, kind);
    return own.pings > 0 ? own : pingsOf(server);
  }
}

/** What a notice is worth grows with this, see pingWorth. */
function surenessOf(record: PingRecord): number {
  return -Math.log1p(-pingPrecision(record));
}

/** Notices that are counted for a page and that no kind has. */
function unnamed({ pings }: KnownRow, told: ToldNotices): number {
  return Object.keys(told).length > 0 ? 0 : pings;
}
