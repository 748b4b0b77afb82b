/** Keeping house in a ledger: what goes, and what of the archive goes with it. */
import type { DatabaseSync } from 'node:sqlite';
import type { Backward } from '../links/backward.ts';
import type { Pages } from '../pages/pages.ts';
import type { Tallies } from '../tallies.ts';
import { StoredCopies } from './copies.ts';
import { Dropped } from './dropped.ts';
import { Forgetting } from './forgetting.ts';
import { Revisits } from './revisits.ts';
import { HeldVersions } from './versions.ts';

export class House {
  readonly #database: DatabaseSync;
  readonly copies: StoredCopies;
  readonly dropped: Dropped;
  readonly revisits: Revisits;
  readonly forgetting: Forgetting;
  readonly versions: HeldVersions;

  constructor(database: DatabaseSync, parts: { pages: Pages; tallies: Tallies; backward: Backward }) {
    this.#database = database;
    this.copies = new StoredCopies(database, parts.tallies);
    this.dropped = new Dropped(database);
    this.revisits = new Revisits(database);
    this.forgetting = new Forgetting(database, parts);
    this.versions = new HeldVersions(database);
  }

  /** What is committed survives a power cut, too, once this returns. Not in a transaction. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
}
