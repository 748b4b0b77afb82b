/**
 * The ways in which servers tell of their changes (faces): where each was found, how far it has been read, when it is to
 * be asked again, and what it said last. Written by whoever polls and receives; read by people.
 */
import type { DatabaseSync } from 'node:sqlite';

const faceKinds = ['cursor', 'resourcesync', 'feed', 'websub', 'indexnow', 'dictionary'] as const;
export type FaceKind = (typeof faceKinds)[number];

export interface Face {
  readonly id: number;
  readonly server: number;
  readonly kind: FaceKind;
  readonly url: string;
  /** Where it was found: `well-known`, `link header`, `page`, `robots.txt`, `feed`, `submitted`. */
  readonly found: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When it is asked again; null = it comes by itself. */
  readonly due: number | null;
  /** When it last said something, 0 = never. */
  readonly heard: number;
  /** Batches and notices that came through it. */
  readonly words: number;
  readonly notices: number;
  /** What went wrong the last times, empty = nothing; and how often in a row. */
  readonly trouble: string;
  readonly failures: number;
  /** What whoever polls it has to know the next time. */
  readonly state: FaceState;
}

/** All of it is small; a state beyond `MOST_STATE` characters is not kept. */
export interface FaceState {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Cursor face: how far its journal was read, and where its parts are. */
  readonly cursor?: string;
  readonly changes?: string;
  readonly manifest?: string;
  readonly pagesAt?: string;
  /**
   * Comparing its manifest with what we hold took more than one batch: how far it came (the bucket, and the hash of the last
   * path that was told), and the cursor from which changes are read once it is done.
   */
  readonly comparing?: {
    readonly cursor: string;
    readonly buckets: number;
    readonly bucket: number;
    readonly after: string;
  };
  /** Cursor face: how often in a row its history was another one. */
  readonly compared?: number;
  /** ResourceSync: changes up to this time were read, milliseconds since 1970. */
  readonly until?: number;
  /** Of an index that takes more than one poll: the last document that was read, and the newest change in any of them. */
  readonly after?: string;
  readonly reached?: number;
  /** ResourceSync: its resource list has said of which pages its change lists tell. False = it could not be read. */
  readonly listed?: boolean;
  /** The one open change list that a description led to, whose validators are kept here; and when it was found. */
  readonly list?: { readonly url: string; readonly found: number };
  /** WebSub: the hub that was asked, our secret, the path that it calls, and until when it promised to. */
  readonly hub?: string;
  readonly secret?: string;
  readonly path?: string;
  readonly lease?: number;
  readonly asked?: number;
  /** The address of our door that the hub was told. */
  readonly at?: string;
  /** Digests of the last deliveries, newest first: what comes again is not news. */
  readonly seen?: readonly string[];
  /** IndexNow: digest of the key that was verified on the host, and when. */
  readonly key?: string;
  readonly verified?: number;
}

const MOST_STATE = 8000;
/** Faces of one server: a site may name feeds without end. */
const MOST_FACES = 32;

type FoundFace = Pick<Face, 'server' | 'kind' | 'url' | 'found'>;

export class KnownFaces {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Enters a face that was found; one that is known stays as it is. Undefined: the server has too many. */
  add({ server, kind, url, found }: FoundFace, now: number): Face | undefined {
    const known = this.find(server, kind, url);
    if (known) return known;
    if (this.ofServer(server).length >= MOST_FACES || url.length > 2000) return undefined;
    const due = kind === 'indexnow' || kind === 'dictionary' ? null : now;
    this.#database
      .prepare('INSERT INTO faces (server, kind, url, found, since, due, state) VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(server, kind, url, found, now, due, '{}');
    return this.find(server, kind, url);
  }

  find(server: number, kind: FaceKind, url: string): Face | undefined {
    const row = this.#database
      .prepare('SELECT * FROM faces WHERE server = ? AND kind = ? AND url = ?')
      .get(server, kind, url);
    return row && fromRow(row);
  }

  get(id: number): Face | undefined {
    const row = this.#database.prepare('SELECT * FROM faces WHERE id = ?').get(id);
    return row && fromRow(row);
  }

  /** The one that a hub calls by this path. */
  byPath(path: string): Face | undefined {
    const row = this.#database
      .prepare(`SELECT * FROM faces WHERE kind = 'websub' AND json_extract(state, '$.path') = ?`)
      .get(path);
    return row && fromRow(row);
  }

  ofServer(server: number): Face[] {
    return this.#database.prepare('SELECT * FROM faces WHERE server = ? ORDER BY id').all(server).map(fromRow);
  }

  /** Servers with a face that names the content of every page, and answers. */
  tellingAll(): Set<number> {
    return this.#answering(`kind = 'cursor'`);
  }

  /** Servers that list all changes of the pages of which they tell; we know which those are. */
  listingAll(): Set<number> {
    return this.#answering(`kind = 'resourcesync' AND json_extract(state, '$.listed')`);
  }

  #answering(condition: string): Set<number> {
    const sql = `SELECT server FROM faces WHERE failures = 0 AND heard > 0 AND ${condition}`;
    const rows = this.#database.prepare(sql).all() as unknown as { server: number }[];
    return new Set(rows.map(({ server }) => server));
  }

  all(): Face[] {
    return this.#database.prepare('SELECT * FROM faces ORDER BY server, id').all().map(fromRow);
  }

  /** Those that are to be asked by then, the longest overdue first; hubs among them where `hubs` says so. */
  due(until: number, most: number, hubs: boolean): Face[] {
    return this.#database
      .prepare(`SELECT * FROM faces WHERE due <= ? AND (? OR kind <> 'websub') ORDER BY due LIMIT ?`)
      .all(until, Number(hubs), most)
      .map(fromRow);
  }

  /** Somebody has set the clock: all are asked as soon as they would have been. In a transaction, like what follows. */
  moveDue(by: number): void {
    this.#database.prepare('UPDATE faces SET due = due + ? WHERE due IS NOT NULL').run(by);
  }

  /** None is asked later than that. */
  noLaterThan(time: number): void {
    this.#database.prepare('UPDATE faces SET due = ? WHERE due > ?').run(time, time);
  }

  put(face: Face): void {
    const { id, due, heard, words, notices, trouble, failures, state } = face;
    const text = JSON.stringify(state);
    this.#database
      .prepare(
        'UPDATE faces SET due = ?, heard = ?, words = ?, notices = ?, trouble = ?, failures = ?, state = ? WHERE id = ?',
      )
      .run(due, heard, words, notices, trouble.slice(0, 200), failures, text.length > MOST_STATE ? '{}' : text, id);
  }

  remove(id: number): void {
    this.#database.prepare('DELETE FROM faces WHERE id = ?').run(id);
  }
}

function fromRow(row: Record<string, unknown>): Face {
  return { ...(row as unknown as Face), state: JSON.parse(row['state'] as string) as FaceState };
}
