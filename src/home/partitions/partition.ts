/**
 * A partition holds the servers of one part of the hash range, with everything that is known of them. It owns its ledger, its
 * archive, its frontier, and the verdicts about pages that come. It is given what the partitions of a home share: the
 * outposts, what people are shown, and the thread that compares pages.
 *
 * Invariant: one visit changes one partition, in one transaction of its ledger. What concerns another partition is written
 * into the same transaction, as links on their way (src/ledger/outbox/border.ts).
 */
import type { Archive } from '../../archive/archive.ts';
import type { Clock } from '../../base/clock.ts';
import type { Anyone } from '../../frontier/errands/elsewhere.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BorderBatch } from '../../ledger/outbox/border.ts';
import { decodeCrossings } from '../../ledger/outbox/crossing.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import { Batch } from '../batch.ts';
import type { Judge } from '../judging/judge.ts';
import { Judging } from '../judging/judging.ts';
import { Verdicts } from '../judging/verdicts.ts';
import { Acknowledgements } from '../machines/acknowledgements.ts';
import type { Progress } from '../progress.ts';
import { type Judged, type ParcelSender, receive, receiveWarily } from '../receive.ts';

/** So many links count as much work as one visit. */
const LINKS_A_VISIT = 50;

/** A partition that is open, before a home adopts it. */
export interface OpenPartition {
  /** From 0 on. */
  readonly id: number;
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
}

/** What the partitions of a home share. */
interface SharedParts {
  readonly clock: Clock;
  readonly progress: Progress;
  readonly judge: Judge;
  /** Wakes home's loop, because there is something to take in. */
  readonly wake: () => void;
}

export class Partition implements OpenPartition {
  readonly id: number;
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
  readonly verdicts: Verdicts;
  readonly judging: Judging;
  readonly batch: Batch;
  readonly #acknowledgements = new Acknowledgements();
  readonly #progress: Progress;

  constructor(opened: OpenPartition, { clock, progress, judge, wake }: SharedParts) {
    const { id, ledger, archive, frontier } = opened;
    this.id = id;
    this.ledger = ledger;
    this.archive = archive;
    this.frontier = frontier;
    this.#progress = progress;
    this.verdicts = new Verdicts({ ledger, frontier, clock }, progress);
    this.judging = new Judging({ ledger, frontier, judge, wake });
    const beforeCommit = () => frontier.saveMemory();
    this.batch = new Batch({ ledger, archive, clock, beforeCommit }, this.#acknowledgements);
  }

  /** Takes in a parcel of a thread of this machine, or of home itself. */
  receive(judged: Judged, outpost = 'home'): void {
    this.batch.open(judged.parcel.visits.length + 1);
    receive(this, judged, outpost, this.#progress);
  }

  /** Takes in a parcel of another machine, which may hold anything. */
  receiveWarily(from: Carrier, judged: Judged, sender: ParcelSender): void {
    const { errand, sequence, done, visits } = judged.parcel;
    this.batch.open(visits.length + 1);
    receiveWarily(this, judged, sender, this.#progress);
    if (done) this.settle(from, errand);
    else {
      this.ledger.outbox.errands.took(errand, sequence);
      this.#acknowledgements.parcel(from, errand, sequence);
    }
  }

  /** Ends an errand before its outpost has said done; pages that it did not visit wait again. */
  end(from: Carrier, errand: string): void {
    this.batch.open(1);
    this.frontier.errands.finish(errand);
    this.settle(from, errand);
  }

  settle(from: Carrier, errand: string): void {
    if (from.remote) this.ledger.outbox.errands.remove(errand);
    this.#acknowledgements.ended(from, errand);
  }

  /** Ends an errand whose outpost is gone. */
  giveBack(errand: string): void {
    this.batch.open(1);
    this.frontier.errands.finish(errand);
    this.ledger.outbox.errands.remove(errand);
  }

  /** Learns what machines said about pages that no machine is left to try. */
  settleUnreached(anyone: Anyone): void {
    this.frontier.errands.settleUnreached(anyone, () => this.batch.open(1));
  }

  /**
   * Takes in a batch of what another partition says about pages here: each batch once, and in order. Returns the number of the
   * last batch taken; the sender goes on after it.
   */
  take({ from, to, number, crossings }: BorderBatch): number {
    const { last } = this.ledger.outbox.border.taken(from);
    if (to !== this.id || number !== last + 1) return last;
    const links = decodeCrossings(crossings);
    this.batch.open(1 + links.length / LINKS_A_VISIT);
    for (const link of links) this.frontier.learning.cross(link);
    this.ledger.outbox.border.took(from, number);
    return number;
  }

  /** Reviews the edits of the whole round together, and commits all that was learned. */
  conclude(): void {
    this.batch.open(1);
    this.verdicts.review();
    this.batch.commit();
  }
}
