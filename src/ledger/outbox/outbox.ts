/** What other machines and partitions are sent: it stays here until they have it. */
import type { DatabaseSync } from 'node:sqlite';
import { Changes } from '../replica/changes.ts';
import { Border } from './border.ts';
import { Errands } from './errands.ts';

export class Outbox {
  readonly errands: Errands;
  readonly border: Border;
  /** What commits changed, for a copy on another machine; recorded only on request. */
  readonly changes: Changes;

  constructor(database: DatabaseSync) {
    this.errands = new Errands(database);
    this.border = new Border(database);
    this.changes = new Changes(database);
  }
}
