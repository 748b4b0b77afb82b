/** Questions that read many rows, of several tables. None of them writes. */
import type { DatabaseSync } from 'node:sqlite';
import type { ServerPages } from '../pages/server-pages.ts';
import type { Visits } from '../visits.ts';
import { IndexFeed } from './index-feed.ts';
import { Listings } from './listings.ts';
import { LoadFigures } from './load-figures.ts';
import { News } from './news.ts';
import { PageList } from './page-list.ts';
import { PageScans } from './page-scans.ts';
import { SiteQuestions } from './site-questions.ts';

export class Queries {
  readonly #database: DatabaseSync;
  readonly scans: PageScans;
  readonly listings: Listings;
  readonly pageList: PageList;
  readonly news: News;
  readonly indexFeed: IndexFeed;
  readonly load: LoadFigures;
  readonly site: SiteQuestions;

  constructor(database: DatabaseSync, visits: Visits, serverPages: ServerPages) {
    this.#database = database;
    this.scans = new PageScans(database, serverPages);
    this.listings = new Listings(database);
    this.pageList = new PageList(database);
    this.news = new News(database, visits);
    this.indexFeed = new IndexFeed(database);
    this.load = new LoadFigures(database);
    this.site = new SiteQuestions(database);
  }

  /** Everything that `ask` reads is from one moment, even if another process writes meanwhile. Not within a batch. */
  atOnce<T>(ask: () => T): T {
    this.#database.exec('BEGIN');
    try {
      return ask();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}
