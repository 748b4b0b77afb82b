/**
 * A partition: the servers of one part of the hash range, with everything that is known of them. It owns its ledger, its
 * archive, its frontier, and what decides about pages that came. What it shares with the other partitions of a home (who
 * fetches, what people are shown, the thread that compares) is given to it.
 *
 * Invariant: all that one visit changes is in one partition, and in one transaction of its ledger. What concerns another
 * partition is written there as links on their way (src/ledger/collection/border.ts).
 */
import type { Archive } from '../../archive/archive.ts';
import type { Clock } from '../../base/clock.ts';
import type { Anyone } from '../../frontier/elsewhere.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { BorderBatch } from '../../ledger/collection/border.ts';
import { decodeCrossings } from '../../ledger/collection/crossing.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import { Batch } from '../batch.ts';
import type { Judge } from '../judging/judge.ts';
import { Judging } from '../judging/judging.ts';
import { Verdicts } from '../judging/verdicts.ts';
import { Acknowledgements } from '../machines/acknowledgements.ts';
import type { Progress } from '../progress.ts';
import { type Judged, type ParcelSender, receive, receiveWarily } from '../receive.ts';

/** A visit is taken to be as much work as so many links. */
const LINKS_A_VISIT = 50;

/** A partition that was opened, before a home has it. */
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
  /** Lets home's loop turn: something can be taken in. */
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

  /** Takes in what a thread of this machine brought, or home itself has to say of a page. */
  receive(judged: Judged, outpost = 'home'): void {
    this.batch.open(judged.parcel.visits.length + 1);
    receive(this, judged, outpost, this.#progress);
  }

  /** The same for another machine, which may bring anything. */
  receiveWarily(from: Carrier, judged: Judged, sender: ParcelSender): void {
    const { errand, sequence, done, visits } = judged.parcel;
    this.batch.open(visits.length + 1);
    receiveWarily(this, judged, sender, this.#progress);
    if (done) this.settle(from, errand);
    else {
      this.ledger.errands.took(errand, sequence);
      this.#acknowledgements.parcel(from, errand, sequence);
    }
  }

  /** The errand ends before its outpost said done; what it did not visit waits again. */
  end(from: Carrier, errand: string): void {
    this.batch.open(1);
    this.frontier.finish(errand);
    this.settle(from, errand);
  }

  settle(from: Carrier, errand: string): void {
    if (from.remote) this.ledger.errands.remove(errand);
    this.#acknowledgements.ended(from, errand);
  }

  /** The same for an errand whose outpost is gone. */
  giveBack(errand: string): void {
    this.batch.open(1);
    this.frontier.finish(errand);
    this.ledger.errands.remove(errand);
  }

  /** Learns what was said of pages for which no machine is left that could be asked. */
  settleUnreached(anyone: Anyone): void {
    this.frontier.settleUnreached(anyone, () => this.batch.open(1));
  }

  /**
   * Takes in what another partition says of pages here, each batch once and none before those that came before it. Returns
   * the number of the last one taken: whoever sends goes on after it.
   */
  take({ from, to, number, crossings }: BorderBatch): number {
    const { last } = this.ledger.border.taken(from);
    if (to !== this.id || number !== last + 1) return last;
    const links = decodeCrossings(crossings);
    this.batch.open(1 + links.length / LINKS_A_VISIT);
    for (const link of links) this.frontier.learning.cross(link);
    this.ledger.border.took(from, number);
    return number;
  }

  /** Sees the edits of the whole round together, and makes all that was learned durable. */
  conclude(): void {
    this.batch.open(1);
    this.verdicts.review();
    this.batch.commit();
  }
}
