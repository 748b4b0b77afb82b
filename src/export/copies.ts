/** Formats that hold every copy of the archive: WARC, JSON lines, and the index that other tools read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { candidateOf, cdxjLines, writeCdxj } from '../archive/cdxj.ts';
import { archivedPages, type ExportedArchive, exportWarcs } from '../archive/export.ts';
import { mediaType, type Stored } from '../archive/read.ts';
import type { SegmentSource } from '../archive/store/segment-store.ts';
import { fingerprint } from '../base/url.ts';
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { bodyOf } from '../home/copies/copy-text.ts';
import { segmentsOf } from '../home/copies/segments-of.ts';
import { Ledger } from '../ledger/ledger.ts';
import { type Exporter, partsOf, put, putAway, type Wanted, type WantedPart } from './exporter.ts';
import { besides, type FollowedCopy, followedCopies } from './followed.ts';

function warc(name: string, version: '1.0' | '1.1'): Exporter {
  return {
    ...{ name, binary: true, pages: false },
    async write(wanted, out) {
      const { filename, software } = wanted;
      using opened = new DisposableStack();
      const archives: ExportedArchive[] = [];
      for (const part of partsOf(wanted)) {
        const { source, filter, followed } = await openPart(part, wanted, opened);
        archives.push({ source, filter, followed: copiesIn(followed()) });
      }
      const count = await exportWarcs(archives, out, { filename, software, version });
      return count + (await putAway(wanted, name, out));
    },
  };
}

async function* copiesIn(followed: AsyncIterable<FollowedCopy>): AsyncGenerator<Stored> {
  for await (const { copy } of followed) yield copy;
}

interface OpenPart {
  readonly ledger: Ledger;
  readonly source: SegmentSource;
  readonly copies: Copies;
  /** With a copy that has followed a version, only that is the newest. */
  readonly filter: WantedPart['filter'];
  /** Read as far as they are asked for. */
  readonly followed: () => AsyncGenerator<FollowedCopy>;
}

async function openPart(
  part: WantedPart,
  { newest }: Pick<Wanted, 'newest'>,
  opened: DisposableStack,
): Promise<OpenPart> {
  const ledger = opened.adopt(new Ledger(part.data, 'read'), each => each.close());
  const copies = opened.adopt(openCopies(ledger), each => each.close());
  const source = opened.adopt(segmentsOf(ledger), each => each.close());
  const followed = () => followedCopies(ledger, copies, part.filter);
  return { ledger, source, copies, followed, filter: newest ? await besides(part.filter, followed()) : part.filter };
}

const jsonLines: Exporter = { name: 'jsonl', binary: false, pages: false, write: writeLines };

async function writeLines(wanted: Wanted, out: Writable): Promise<number> {
  let count = 0;
  for (const part of partsOf(wanted)) count += await linesOf(part, wanted, out);
  return count + (await putAway(wanted, 'jsonl', out));
}

async function linesOf(part: WantedPart, wanted: Wanted, out: Writable): Promise<number> {
  using opened = new DisposableStack();
  const { ledger, source, copies, filter, followed } = await openPart(part, wanted, opened);
  let count = 0;
  for await (const page of archivedPages(source)) {
    if (!filter(page)) continue;
    const { url, time, status, mediaType, digest, kind } = page;
    const whole = wanted.body ? await copies.whole(page.stored) : undefined;
    const marked = kind === 'resource' ? hiddenOf(ledger, url) : {};
    const about = { url, time: new Date(time).toISOString(), status, type: mediaType, digest, kind, ...marked };
    await put(out, `${JSON.stringify({ ...about, ...(whole && bodyOf(whole)) })}\n`);
    count++;
  }
  for await (const { copy } of followed()) {
    const { url, status, digest, headers } = copy;
    const about = { url, time: new Date(copy.time).toISOString(), status, type: mediaType(headers), digest };
    const marked = { kind: 'response', ...hiddenOf(ledger, url) };
    await put(out, `${JSON.stringify({ ...about, ...marked, ...(wanted.body && bodyOf(copy)) })}\n`);
    count++;
  }
  return count;
}

/** A document to which no link leads says so. */
function hiddenOf(ledger: Ledger, url: string): { hidden?: string } {
  const { high, low } = fingerprint(url, { high: 0, low: 0 });
  const page = ledger.pages.find(high, low);
  const hidden = page && ledger.links.hidden.of(page.id);
  return hidden ? { hidden } : {};
}

const cdxj: Exporter = { name: 'cdxj', binary: false, pages: false, write: writeIndex };

async function writeIndex(wanted: Wanted, out: Writable): Promise<number> {
  let count = 0;
  for (const part of partsOf(wanted)) count += await indexOf(part, out);
  return count + (await putAway(wanted, 'cdxj', out));
}

async function indexOf(wanted: WantedPart, out: Writable): Promise<number> {
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(wanted.data, 'read'), each => each.close());
  const source = opened.adopt(segmentsOf(ledger), each => each.close());
  const archive = join(wanted.data, 'archive');
  let [kept, temporary] = [archive, ''];
  try {
    await writeCdxj(source, archive); // beside the segments, for tools that are pointed at the archive itself
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // A collection that we may only read: what is made on the way goes elsewhere.
    temporary = mkdtempSync(join(tmpdir(), 'skein-index-'));
    kept = temporary;
  }
  let count = 0;
  try {
    for await (const line of cdxjLines(source, kept)) {
      if (!wanted.filter(candidateOf(line))) continue;
      await put(out, `${line}\n`);
      count++;
    }
  } finally {
    if (temporary !== '') rmSync(temporary, { recursive: true, force: true });
  }
  return count;
}

export const copyFormats: readonly Exporter[] = [warc('warc', '1.1'), warc('warc-1.0', '1.0'), jsonLines, cdxj];
