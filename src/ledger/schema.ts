/**
 * The ledger's tables, documented where they are made, versioned by SQLite's user_version. A change appends a step to
 * `steps`; a step that has shipped is never edited. docs/ledger.md explains the tables to people who query them.
 */
import { DatabaseSync } from 'node:sqlite';
import { SkeinError } from '../base/errors.ts';

/** SQL, oldest first. */
export const steps: readonly string[] = [
  `
  -- Settings of the collection that outlive a run: name, JSON value.
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  -- One row per web origin. Times are milliseconds since 1970, 0 = never.
  CREATE TABLE servers (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL DEFAULT '',
    robots_status INTEGER NOT NULL DEFAULT -1,   -- -1 = never fetched, 0 = unreachable
    robots_body TEXT NOT NULL DEFAULT '',
    robots_time REAL NOT NULL DEFAULT 0,
    robots_unreachable REAL NOT NULL DEFAULT 0,   -- since when it cannot be read
    sitemaps TEXT NOT NULL DEFAULT '[]',          -- JSON list
    crawl_delay REAL NOT NULL DEFAULT 0,          -- ms
    not_before REAL NOT NULL DEFAULT 0,           -- Retry-After or back-off in force
    latency REAL NOT NULL DEFAULT 0,              -- smoothed ms of an answer
    failures INTEGER NOT NULL DEFAULT 0,          -- server-wide failures in a row
    refused TEXT NOT NULL DEFAULT '{}',           -- JSON: reason -> URLs refused and not stored one by one
    seeded INTEGER NOT NULL DEFAULT 0,            -- 1 = a seed is on it (so its address may be private)
    paused INTEGER NOT NULL DEFAULT 0,
    pace REAL,                                    -- ms, overrides the crawl's
    audits REAL NOT NULL DEFAULT 0,               -- 304 answers checked with a full GET ...
    lies REAL NOT NULL DEFAULT 0,                 -- ... and found wrong
    multiplier REAL NOT NULL DEFAULT 1,           -- of the schedule's threshold
    pings REAL NOT NULL DEFAULT 0,                -- notices whose pages were visited since ...
    true_pings REAL NOT NULL DEFAULT 0,           -- ... and had changed
    ping_expected REAL NOT NULL DEFAULT 0,        -- changes that visits without a notice were to find ...
    ping_missed REAL NOT NULL DEFAULT 0,          -- ... and found
    dates REAL NOT NULL DEFAULT 0,                -- Last-Modified headers that could be checked ...
    wrong_dates REAL NOT NULL DEFAULT 0,          -- ... and did not go with the content
    wave REAL NOT NULL DEFAULT 0,                 -- since when its pages seem to change together, 0 = they do not
    soft_404 BLOB                                 -- print of its not-found page, empty = it has none
  ) STRICT;

  -- Identity of every URL ever seen. Append-only, so that a million more cost what the first cost; looked up through
  -- the fingerprints in memory, never through an index here.
  CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    high INTEGER NOT NULL,                        -- fingerprint, two 32-bit halves
    low INTEGER NOT NULL,
    server INTEGER NOT NULL,
    url TEXT NOT NULL,
    parent INTEGER NOT NULL,                      -- page that first linked here, 0 = seed
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,                        -- redirects in a row that led here, indexes of sitemaps
    relevance INTEGER NOT NULL,                   -- 0-255, to the crawl's keywords
    found REAL NOT NULL,
    refused TEXT,                                 -- reason it will not be visited
    role INTEGER NOT NULL,                        -- 0 page, 1 sitemap, 2 image
    lastmod REAL                                  -- from a sitemap
  ) STRICT;

  -- What the visits so far have taught about a page. No row = never visited.
  CREATE TABLE known (
    page INTEGER PRIMARY KEY,
    time REAL NOT NULL,                           -- last visit
    seen_time REAL,                               -- last visit that saw the page, changed or not
    first_time REAL NOT NULL,
    changed_time REAL NOT NULL,                   -- last visit that found a change
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,
    tries INTEGER NOT NULL,                       -- failures in a row
    retry_at REAL,                                -- when to try a failure again
    pings REAL NOT NULL DEFAULT 0,                -- notices since the last visit
    due REAL,                                     -- expected change date: when the schedule wants the next visit
    etag TEXT,
    last_modified TEXT,
    title TEXT,
    media_type TEXT,
    charset TEXT,
    language TEXT,
    canonical TEXT,
    bytes INTEGER,                                -- decoded
    wire INTEGER,                                 -- of the last visit that brought a body, both ways
    flags INTEGER NOT NULL DEFAULT 0,             -- 1 noindex 2 nofollow 4 noarchive 8 truncated 16 filtered
    ascii_sum INTEGER,
    urls INTEGER,
    keywords INTEGER,
    facts BLOB,
    change BLOB,                                  -- state of the estimator
    mask BLOB,                                    -- learned noise
    moved_to INTEGER,                             -- page it redirects to: this one is its alias
    same_as INTEGER,                              -- page with identical bytes, stored once
    near INTEGER,                                 -- page it nearly equals
    segment INTEGER, place INTEGER, length INTEGER, request_length INTEGER   -- the stored copy
  ) STRICT;
  CREATE INDEX known_due ON known (due) WHERE due IS NOT NULL;
  CREATE INDEX known_retry ON known (retry_at) WHERE retry_at IS NOT NULL;

  -- Every look at every page.
  CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    page INTEGER NOT NULL,
    time REAL NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,
    stage TEXT,
    amount REAL,                                  -- share of blocks that differ
    up INTEGER NOT NULL,
    down INTEGER NOT NULL,
    cause TEXT NOT NULL,
    ms INTEGER NOT NULL,
    outpost TEXT NOT NULL,
    segment INTEGER, place INTEGER, length INTEGER, request_length INTEGER
  ) STRICT;
  CREATE INDEX visits_page ON visits (page);

  -- Out-links of a page: targets and anchors packed in one value (links.ts).
  CREATE TABLE links (page INTEGER PRIMARY KEY, targets BLOB NOT NULL) STRICT;

  -- How many pages link to each page: 32-bit counters, 65,536 pages a row (backward.ts).
  CREATE TABLE backward (chunk INTEGER PRIMARY KEY, counts BLOB NOT NULL) STRICT;

  -- Bytes and visits by cause, per server and day (days since 1970).
  CREATE TABLE account (
    day INTEGER NOT NULL, server INTEGER NOT NULL, cause TEXT NOT NULL,
    visits INTEGER NOT NULL, spent INTEGER NOT NULL, avoided INTEGER NOT NULL,
    PRIMARY KEY (day, server, cause)
  ) STRICT, WITHOUT ROWID;

  -- Length of each archive segment that visits here speak of; anything longer is a torn tail.
  CREATE TABLE segments (id INTEGER PRIMARY KEY, length INTEGER NOT NULL) STRICT;

  -- Errands under way with outposts on other machines; the last parcel taken of each, -1 = none.
  CREATE TABLE errands (
    id TEXT PRIMARY KEY,
    outpost TEXT NOT NULL,
    bytes BLOB NOT NULL,
    issued REAL NOT NULL,
    sequence INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- What robots.txt forbade, to be found again when it says something else.
  CREATE INDEX known_robots ON known (page) WHERE reason = 'robots';
  `,
  `
  -- The images among the pages; costs nothing for all others.
  CREATE INDEX pages_images ON pages (id) WHERE role = 2;
  `,
  `
  -- Fingerprints of every 16,384 pages in 64 rows: lower half and page id, 32 bits each (prints.ts).
  CREATE TABLE prints (id INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
  `,
  `
  -- Bytes that crossed home's own line to outposts on other machines and back, by day (days since 1970).
  CREATE TABLE line (day INTEGER PRIMARY KEY, up INTEGER NOT NULL, down INTEGER NOT NULL) STRICT;

  -- Levels of the page's tree (root 1) on which a visit found another number of elements: JSON list.
  CREATE TABLE levels (visit INTEGER PRIMARY KEY, levels TEXT NOT NULL) STRICT;
  `,
  `
  -- Counts that are kept as rows are written (tallies.ts).
  CREATE TABLE tallies (
    kind TEXT NOT NULL, name TEXT NOT NULL, server INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (kind, name, server)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO tallies SELECT 'pages', coalesce(refused, ''), server, count(*) FROM pages GROUP BY 2, 3;
  INSERT INTO tallies SELECT 'known', outcome || ' ' || reason, 0, count(*) FROM known GROUP BY 2;
  INSERT INTO tallies SELECT 'stored', '', 0, count(*) FROM known WHERE segment IS NOT NULL;
  INSERT INTO tallies SELECT 'spurned', '', 0, count(*) FROM pages p JOIN known k ON k.page = p.id
    WHERE p.refused IS NOT NULL;
  `,
  `
  -- Which pages are a server's: ids of 32 bits side by side, parts from 1 on (server-pages.ts).
  CREATE TABLE server_pages (
    server INTEGER NOT NULL, part INTEGER NOT NULL, ids BLOB NOT NULL, PRIMARY KEY (server, part)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The newest copy of a page that differs from its newest stored version by no news: a delta to that (followed.ts).
  CREATE TABLE followed (
    page INTEGER PRIMARY KEY,
    time REAL NOT NULL,                           -- of the visit that brought it
    edited REAL NOT NULL,                         -- last time that it differed in more than stamps
    segment INTEGER NOT NULL, place INTEGER NOT NULL,   -- the version that the delta belongs to
    digest BLOB NOT NULL,
    delta BLOB NOT NULL
  ) STRICT;

  -- What is known of the noise of a server, and of the places of a page that differed; JSON (src/judge/knowledge.ts).
  CREATE TABLE server_noise (server INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE page_noise (page INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;

  -- Words of a page that a visit found removed and added.
  ALTER TABLE visits ADD COLUMN removed INTEGER;
  ALTER TABLE visits ADD COLUMN added INTEGER;
  ALTER TABLE known DROP COLUMN mask;
  `,
  `
  -- What is no page of its own (dead links, redirects, second addresses): it has a small budget of its own.
  CREATE INDEX known_aside ON known (due) WHERE due IS NOT NULL AND (outcome IN ('gone', 'moved') OR flags & 64);
  -- Second addresses, found when their page changes.
  CREATE INDEX known_aliases ON known (same_as) WHERE flags & 64;
  -- Pages that a sitemap names, 32-bit ids.
  CREATE TABLE listed (page INTEGER PRIMARY KEY, targets BLOB NOT NULL) STRICT;
  CREATE INDEX pages_sitemaps ON pages (id) WHERE role = 1;
  -- Changes that visits found beside those that were foretold, by server, kind of page and day (forecasts.ts).
  CREATE TABLE forecasts (
    server INTEGER NOT NULL,
    kind INTEGER NOT NULL,                        -- 0 never seen to change before, 1 seen to
    day INTEGER NOT NULL,                         -- since 1970
    looks INTEGER NOT NULL,
    foretold REAL NOT NULL,
    found INTEGER NOT NULL,
    PRIMARY KEY (server, kind, day)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The machine that read the rules of a server; empty = home itself.
  ALTER TABLE servers ADD COLUMN rules_by TEXT NOT NULL DEFAULT '';
  `,
  `
  -- What a page that was not fetched is likely to be by now, from edits that many pages share (inferred.ts).
  CREATE TABLE inferred (
    page INTEGER PRIMARY KEY,
    folder TEXT NOT NULL,
    time REAL NOT NULL, pages INTEGER NOT NULL,         -- of the looks that showed the edit
    segment INTEGER NOT NULL, place INTEGER NOT NULL,   -- the version that the delta belongs to
    digest BLOB NOT NULL,
    delta BLOB NOT NULL
  ) STRICT;
  CREATE INDEX inferred_folders ON inferred (folder);
  `,
  `
  -- Visits and their bytes by day and by how they ended, kept as visits are written (looks.ts).
  CREATE TABLE looks (
    day INTEGER NOT NULL,                         -- since 1970
    here INTEGER NOT NULL,                        -- 1 from this process, 0 from an outpost elsewhere
    outcome TEXT NOT NULL, stage TEXT NOT NULL, cause TEXT NOT NULL,
    visits INTEGER NOT NULL, up INTEGER NOT NULL, down INTEGER NOT NULL,
    PRIMARY KEY (day, here, outcome, stage, cause)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO looks SELECT cast(time / 86400000 AS INTEGER), outpost GLOB 'thread-[0-9]*' OR outpost = 'trial', outcome,
    coalesce(stage, ''), cause, count(*), sum(up), sum(down) FROM visits GROUP BY 1, 2, 3, 4, 5;
  `,
  `
  -- What is on its way to other partitions, packed (collection/crossing.ts); numbered for each without gaps.
  CREATE TABLE outbox (
    target INTEGER NOT NULL, number INTEGER NOT NULL,
    crossings BLOB NOT NULL,
    PRIMARY KEY (target, number)
  ) STRICT, WITHOUT ROWID;
  -- Of each other partition: the last batch sent there, and the last one taken from there.
  CREATE TABLE border (partition INTEGER PRIMARY KEY, sent INTEGER NOT NULL, taken INTEGER NOT NULL) STRICT;
  -- How many pages of other partitions link to a page.
  CREATE TABLE foreign_links (page INTEGER PRIMARY KEY, links INTEGER NOT NULL) STRICT;
  `,
  `
  -- How true the notices of a server have been, by kind (src/notices/notice.ts).
  CREATE TABLE notice_trust (
    server INTEGER NOT NULL, kind TEXT NOT NULL,
    pings REAL NOT NULL, confirmed REAL NOT NULL, expected REAL NOT NULL, missed REAL NOT NULL,
    PRIMARY KEY (server, kind)
  ) STRICT, WITHOUT ROWID;
  -- Notices since the last visit of a page, by kind: JSON; the time is that of the last one.
  CREATE TABLE told (page INTEGER PRIMARY KEY, kinds TEXT NOT NULL, time REAL NOT NULL) STRICT;
  -- The ways in which a server tells of its changes (faces.ts).
  CREATE TABLE faces (
    id INTEGER PRIMARY KEY,
    server INTEGER NOT NULL, kind TEXT NOT NULL, url TEXT NOT NULL,
    found TEXT NOT NULL, since REAL NOT NULL,
    due REAL,                                     -- when it is asked again; null = it comes by itself
    heard REAL NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, notices INTEGER NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT '', failures INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL,                          -- JSON: validators, cursor, lease
    UNIQUE (server, kind, url)
  ) STRICT;
  CREATE INDEX faces_due ON faces (due) WHERE due IS NOT NULL;
  -- Documents to which no link leads; kind: record or media.
  CREATE TABLE hidden (page INTEGER PRIMARY KEY, kind TEXT NOT NULL) STRICT;
  `,
  `
  -- Records of the archive that nothing names any more, until their segment is compacted (house/dropped.ts).
  CREATE TABLE dropped (
    segment INTEGER NOT NULL, place INTEGER NOT NULL, length INTEGER NOT NULL, request_length INTEGER NOT NULL,
    urgent INTEGER NOT NULL,                      -- 1 = somebody asked for it to leave the disk
    PRIMARY KEY (segment, place)
  ) STRICT, WITHOUT ROWID;
  -- Visits whose stored record refers to the body that another visit brought, as far as that was read (house/revisits.ts).
  CREATE TABLE revisits (visit INTEGER PRIMARY KEY, original INTEGER NOT NULL) STRICT;
  CREATE INDEX revisits_original ON revisits (original);
  `,
  `
  -- What hooks of the user's took from pages: JSON, with the visit that it was taken at (found.ts).
  CREATE TABLE found (visit INTEGER PRIMARY KEY, page INTEGER NOT NULL, data TEXT NOT NULL) STRICT;
  CREATE INDEX found_page ON found (page);
  `,
  `
  -- Pages that had copies and were forgotten, in that order: readers of what changed are told once (storage/forgetting.ts).
  CREATE TABLE forgettings (id INTEGER PRIMARY KEY, page INTEGER NOT NULL) STRICT;
  INSERT INTO forgettings (page) SELECT id FROM pages WHERE refused = 'forgotten' ORDER BY id;
  `,
];

/** A ledger that is only read may be of a version that did not have the table yet. */
export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}

export const SCHEMA_VERSION = steps.length;

/** Which steps have been taken, 0 = none. Throws where a newer Skein has taken more. */
export function versionOf(database: DatabaseSync): number {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version <= SCHEMA_VERSION) return version;
  throw tooNew(version);
}

/**
 * The database came from elsewhere, and is not made as a ledger of its version: whatever else stands in it, or in a table of
 * ours (a check, a column that is reckoned), does something when it is read or written. Each statement is compared with our
 * own, because a virtual table has many spellings. What SQLite notes of an index for itself (ANALYZE) may be there.
 */
export function isAltered(database: DatabaseSync): boolean {
  database.exec('PRAGMA trusted_schema = OFF');
  const own = new DatabaseSync(':memory:');
  try {
    migrateTo(own, versionOf(database));
    const wanted = statementsOf(own);
    const found = [...statementsOf(database)].filter(each => !STATISTICS.has(each));
    return found.length !== wanted.size || found.some(each => !wanted.has(each));
  } finally {
    own.close();
  }
}

const STATISTICS = new Set([
  'table sqlite_stat1 sqlite_stat1 CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'table sqlite_stat4 sqlite_stat4 CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
]);

/** What it is made of, without what means nothing: comments and white space. */
function statementsOf(database: DatabaseSync): Set<string> {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  const plain = (sql: string) =>
    sql
      .replace(/--[^\n]*/g, '')
      .replace(/\s+/g, ' ')
      .replace(/\s?([(),])\s?/g, '$1')
      .trim();
  return new Set(
    rows.map(row => `${row['type']} ${row['name']} ${row['tbl_name']} ${plain(String(row['sql'] ?? ''))}`),
  );
}

function tooNew(version: number): SkeinError {
  return new SkeinError(
    'data-too-new',
    `The ledger has version ${version}, this Skein knows versions up to ${SCHEMA_VERSION}.`,
    'Use the newer Skein that wrote it.',
  );
}

/** Brings the database to this version, one transaction a step; a new one, which is empty, in one for all. */
export function migrate(database: DatabaseSync): void {
  migrateTo(database, SCHEMA_VERSION);
}

/** The same, to a version that need not be the newest. */
export function migrateTo(database: DatabaseSync, wanted: number): void {
  if (wanted > SCHEMA_VERSION) throw tooNew(wanted);
  for (let at = versionOf(database); at < wanted; ) {
    const next = at === 0 ? wanted : at + 1;
    database.exec(`BEGIN; ${steps.slice(at, next).join(';')}; PRAGMA user_version = ${next}; COMMIT`);
    at = next;
  }
}
