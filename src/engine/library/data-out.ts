/** What a collection holds, written out as a whole: copies and contents in a format, fields of pages as rows. */
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Filter } from '../../archive/export.ts';
import { listSegments } from '../../archive/segments.ts';
import { committedEnds } from '../../archive/store/segment-store.ts';
import { SkeinError } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { writeChunkChanges } from '../../export/chunk-changes.ts';
import { type Exporter, matcherOf, type Wanted } from '../../export/exporter.ts';
import { exporterOf } from '../../export/formats.ts';
import { type RowsWanted, type RowsWritten, writeRows } from '../../export/rows.ts';
import type { Fields } from '../../extract/fields.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import type { PartitionReader } from '../../questions/partition-reader.ts';
import { askCollection } from '../open-collection.ts';

/** Which copies or pages. */
export interface ExportChoice {
  /** Only URLs that contain this; * stands for anything. */
  readonly pattern?: string | undefined;
  /** Milliseconds since 1970: from then on, and before then. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only the newest copy of each page. */
  readonly newest?: boolean | undefined;
  /** jsonl: false leaves the bodies out. */
  readonly body?: boolean | undefined;
  /** Named in a WARC file's first record. */
  readonly filename?: string | undefined;
}

export interface ExportOptions extends ExportChoice {
  /** As `skein export --format` names them, or one of your own (pageExporter); default warc. */
  readonly format?: string | Exporter | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExtractOptions extends Pick<ExportOptions, 'pattern' | 'signal'> {
  /** Default jsonl. */
  readonly format?: RowsWanted['format'] | undefined;
  /** The cursor of an earlier extraction: only pages whose rows differ since then. */
  readonly after?: string | undefined;
}

/** `after`: the cursor of an earlier answer; default: from the beginning. */
export type ChunkOptions = Pick<ExtractOptions, 'pattern' | 'signal' | 'after'>;

/** While the collection is open; what other machines have comes behind what is here. */
export function exportWanted(collection: OpenCollection, data: string, choice: ExportChoice): Wanted {
  const wanted = exportWantedOf(collection.here, data, choice);
  const { exportAway } = collection;
  return exportAway ? { ...wanted, away: format => exportAway(format, choice) } : wanted;
}

/** Of these partitions. */
export function exportWantedOf(here: readonly PartitionReader[], data: string, choice: ExportChoice): Wanted {
  const { pattern, since = 0, until = Number.MAX_SAFE_INTEGER, body = true, filename = 'export.warc.gz' } = choice;
  const parts = here.map(reader => ({ data: reader.directory, filter: filterOf(reader, choice) }));
  const matches = matcherOf(pattern);
  return {
    newest: choice.newest === true,
    data,
    filter: parts[0]?.filter ?? (() => false),
    parts,
    since,
    until,
    body,
    matches,
    filename,
    software: `Skein/${version}`,
  };
}

/** Only what the ledger speaks of: a torn tail is nobody's page. */
function filterOf({ ledger, directory }: PartitionReader, choice: ExportChoice): Filter {
  const { pattern, newest = false, since = 0, until = Number.MAX_SAFE_INTEGER } = choice;
  const ends = committedEnds(listSegments(join(directory, 'archive')), ledger.storage.segments.all());
  const places = new Set<string>();
  if (newest) {
    for (const { segment, offset } of ledger.storage.copies.newest(until)) places.add(`${segment} ${offset}`);
  }
  const matches = matcherOf(pattern);
  return ({ url, time, segment, offset }) =>
    offset < (ends.get(segment) ?? 0) &&
    time >= since &&
    time < until &&
    matches(url) &&
    (!newest || places.has(`${segment} ${offset}`));
}

/** Writes to `out` and leaves it open; returns how many copies, or pages, it wrote. */
export async function exportTo(data: string, out: Writable, { format = 'warc', signal, ...choice }: ExportOptions) {
  const exporter = typeof format === 'string' ? exporterOf(format) : format;
  const collection = askCollection(data);
  let wanted: Wanted;
  try {
    wanted = exportWanted(collection, data, choice);
  } finally {
    collection.close();
  }
  return relayed(out, signal, (relay, check) => {
    const { matches, parts } = wanted;
    const checked =
      (filter: Filter): Filter =>
      page =>
        check() && filter(page);
    return exporter.write(
      {
        ...wanted,
        matches: url => check() && matches(url),
        filter: checked(wanted.filter),
        parts: (parts ?? []).map(part => ({ ...part, filter: checked(part.filter) })),
      },
      relay,
    );
  });
}

/** The same of rows. */
export function extractTo(
  data: string,
  fields: Fields,
  out: Writable,
  { pattern, signal, format = 'jsonl', after = '0' }: ExtractOptions,
): Promise<RowsWritten> {
  askCollection(data).close();
  const matches = matcherOf(pattern);
  return relayed(out, signal, (relay, check) =>
    writeRows({ data, fields, format, after, matches: url => check() && matches(url) }, relay),
  );
}

/** The same of chunks that came, changed or went. */
export function chunksTo(data: string, out: Writable, { pattern, signal, after = '0' }: ChunkOptions) {
  askCollection(data).close();
  const matches = matcherOf(pattern);
  return relayed(out, signal, (relay, check) =>
    writeChunkChanges({ data, after, matches: url => check() && matches(url) }, relay),
  );
}

/**
 * Lets `write` write, until the signal aborts or the receiver fails. A writer that waits for a receiver which will never
 * take more is let go: what it still writes is thrown away, and `check`, which it asks at each page, ends it.
 */
async function relayed<T>(
  out: Writable,
  signal: AbortSignal | undefined,
  write: (relay: Writable, check: () => true) => Promise<T>,
): Promise<T> {
  if (typeof out?.write !== 'function' || typeof out.on !== 'function')
    throw new SkeinError(
      'bad-option',
      'This writes to a stream.',
      'Give one: createWriteStream(file), process.stdout.',
    );
  let failed: { readonly reason: unknown } | undefined;
  let go = (): void => {};
  const fail = (reason: unknown): void => {
    failed ??= { reason };
    go();
  };
  const aborted = () => fail(signal?.reason);
  const ended = () => fail(new SkeinError('refused', 'The output was closed before everything was written.'));
  const check = (): true => {
    if (failed) throw failed.reason;
    return true;
  };
  const relay = new Writable({
    write(bytes, _, done) {
      if (failed || out.write(bytes)) return done();
      const once = () => {
        out.off('drain', once);
        go = () => {};
        done();
      };
      go = once;
      out.on('drain', once);
    },
  });
  signal?.addEventListener('abort', aborted);
  out.on('error', fail).on('close', ended);
  try {
    if (signal?.aborted) aborted();
    if (out.destroyed || out.writableEnded) ended();
    check();
    const written = await write(relay, check);
    await new Promise(resolve => relay.end(resolve));
    check();
    return written;
  } finally {
    signal?.removeEventListener('abort', aborted);
    out.off('error', fail).off('close', ended);
  }
}
