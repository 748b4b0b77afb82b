/** When pages are visited again: due times, what visits at those times found, and what servers tell of their changes. */
import type { DatabaseSync } from 'node:sqlite';
import type { ServerPages } from '../pages/server-pages.ts';
import { DueTimes } from './due-times.ts';
import { KnownFaces } from './faces.ts';
import { Forecasts } from './forecasts.ts';
import { NoticeTrust } from './notice-trust.ts';
import { ScheduledPages } from './scheduled-pages.ts';
import { ToldPages } from './told.ts';

export class ScheduleTables {
  readonly due: DueTimes;
  readonly pages: ScheduledPages;
  readonly forecasts: Forecasts;
  readonly faces: KnownFaces;
  readonly told: ToldPages;
  readonly noticeTrust: NoticeTrust;

  constructor(database: DatabaseSync, serverPages: ServerPages) {
    this.due = new DueTimes(database);
    this.pages = new ScheduledPages(database, serverPages);
    this.forecasts = new Forecasts(database);
    this.faces = new KnownFaces(database);
    this.told = new ToldPages(database);
    this.noticeTrust = new NoticeTrust(database);
  }
}
