/** Changes since a cursor: what was made, changed or removed, without the pages themselves. */
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { bad, siteLimits } from './discovery.ts';
import {
  decodeCursor,
  HASH_BYTES,
  type HeldByHash,
  kindNumber,
  PathReader,
  PathWriter,
  readHash,
  type ToldKind,
  timeOf,
  toldKindOf,
  writeHash,
} from './paths.ts';

const operations = ['create', 'update', 'delete'] as const;
export type Operation = (typeof operations)[number];

export interface SiteChange {
  /** Normalised. */
  readonly url: string;
  readonly operation: Operation;
  readonly kind: ToldKind;
  /** Milliseconds since 1970, whole seconds: when the content last changed, as the site knows it. */
  readonly time: number;
  /** Our detector's `content` hash, its first 8 bytes; zeros of a page that was removed. */
  readonly content: Uint8Array;
}

export interface SiteChanges {
  /** Where the reader stands once it has these. */
  readonly cursor: string;
  /** There are more: ask again at once. */
  readonly more: boolean;
  /** A page occurs once, with what came of it last. */
  readonly changes: readonly SiteChange[];
}

const NO_HASH = new Uint8Array(HASH_BYTES);

export function encodeChanges({ cursor, more, changes }: SiteChanges): Uint8Array {
  const out = new ByteWriter(64 + changes.length * 40);
  out.bytes(Buffer.from(cursor, 'latin1'));
  out.byte(more ? 1 : 0);
  out.varint(changes.length);
  const paths = new PathWriter(out);
  let before = 0;
  for (const { url, operation, kind, time, content } of changes) {
    out.byte(operations.indexOf(operation) | (kindNumber(kind) << 2));
    paths.name(url, kind);
    const seconds = Math.max(0, Math.floor(time / 1000));
    out.varint(zigzag(seconds - before));
    before = seconds;
    if (operation !== 'delete') writeHash(out, content);
  }
  return out.finish();
}

/** `site`: the public URL of the discovery document. Unlisted pages that are not `held` are left out. */
export function decodeChanges(bytes: Uint8Array, site: string, held?: HeldByHash): SiteChanges {
  const from = new ByteReader(bytes);
  const cursor = readCursor(from);
  const more = from.byte() === 1;
  const count = from.count(4);
  if (count > siteLimits.changes) throw bad('there are too many changes for one answer');
  const paths = new PathReader(from, site, held);
  const changes: SiteChange[] = [];
  let before = 0;
  for (let i = 0; i < count; i++) {
    const flags = from.byte();
    const operation = operations[flags & 3];
    if (operation === undefined) throw bad('an unknown operation');
    const kind = toldKindOf(flags >> 2);
    const url = paths.named(kind);
    before += unzigzag(from.varint());
    const content = operation === 'delete' ? NO_HASH : readHash(from);
    const time = timeOf(before);
    if (url !== undefined) changes.push({ url, operation, kind, time, content });
  }
  from.end();
  return { cursor, more, changes };
}

export function readCursor(from: ByteReader): string {
  const bytes = from.bytes();
  const cursor = bytes.length > siteLimits.cursor ? '' : Buffer.from(bytes).toString('latin1');
  if (decodeCursor(cursor) === undefined) throw bad('the cursor is malformed');
  return cursor;
}

function zigzag(value: number): number {
  return value < 0 ? -value * 2 - 1 : value * 2;
}

function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}
