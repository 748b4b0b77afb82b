/** What is stored of pages: where copies lie in the archive, what of them may go, and the ledger's own file. */
import type { DatabaseSync } from 'node:sqlite';
import type { Backward } from '../links/backward.ts';
import type { Pages } from '../pages/pages.ts';
import type { Tallies } from '../tallies.ts';
import { StoredCopies } from './copies.ts';
import { Dropped } from './dropped.ts';
import { Followed } from './followed.ts';
import { Forgetting } from './forgetting.ts';
import { Inferred } from './inferred.ts';
import { Revisits } from './revisits.ts';
import { SegmentLengths } from './segment-lengths.ts';
import { HeldVersions } from './versions.ts';

export class Storage {
  readonly #database: DatabaseSync;
  readonly segments: SegmentLengths;
  readonly copies: StoredCopies;
  readonly versions: HeldVersions;
  readonly followed: Followed;
  readonly inferred: Inferred;
  readonly dropped: Dropped;
  readonly revisits: Revisits;
  readonly forgetting: Forgetting;

  constructor(database: DatabaseSync, parts: { pages: Pages; tallies: Tallies; backward: Backward }) {
    this.#database = database;
    this.segments = new SegmentLengths(database);
    this.copies = new StoredCopies(database, parts.tallies);
    this.versions = new HeldVersions(database);
    this.followed = new Followed(database);
    this.inferred = new Inferred(database);
    this.dropped = new Dropped(database);
    this.revisits = new Revisits(database);
    this.forgetting = new Forgetting(database, parts);
  }

  /** Once this returns, what is committed survives a power cut, too. Not in a transaction. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** What SQLite finds wrong with the ledger's file, at most so many sentences. */
  problems(most: number): string[] {
    const rows = this.#database.prepare(`PRAGMA integrity_check(${most})`).all();
    return rows.flatMap(row => String(row['integrity_check']).split('\n')).filter(text => text !== 'ok');
  }
}
