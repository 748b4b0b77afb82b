/** Formats that hold every copy of the archive: WARC, JSON lines, and the index that other tools read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { candidateOf, cdxjLines, writeCdxj } from '../archive/cdxj.ts';
import { exportWarc, storedPages } from '../archive/export.ts';
import { openCopies } from '../home/copies/copies.ts';
import { bodyOf } from '../home/copies/copy-text.ts';
import { Ledger } from '../ledger/ledger.ts';
import { type Exporter, put, type Wanted } from './exporter.ts';

const archiveOf = ({ data }: Wanted): string => join(data, 'archive');

function warc(name: string, version: '1.0' | '1.1'): Exporter {
  return {
    ...{ name, binary: true, pages: false },
    write: (wanted, out) => exportWarc(archiveOf(wanted), out, { ...wanted, version }),
  };
}

const jsonLines: Exporter = { name: 'jsonl', binary: false, pages: false, write: writeLines };

async function writeLines(wanted: Wanted, out: Writable): Promise<number> {
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(wanted.data, 'read'), each => each.close());
  const copies = opened.adopt(openCopies(ledger, wanted.data), each => each.close());
  let count = 0;
  for await (const page of storedPages(archiveOf(wanted))) {
    if (!wanted.filter(page)) continue;
    const { url, time, status, mediaType, digest, kind } = page;
    const whole = wanted.body ? copies.whole(page.stored) : undefined;
    const about = { url, time: new Date(time).toISOString(), status, type: mediaType, digest, kind };
    await put(out, `${JSON.stringify({ ...about, ...(whole && bodyOf(whole)) })}\n`);
    count++;
  }
  return count;
}

const cdxj: Exporter = { name: 'cdxj', binary: false, pages: false, write: writeIndex };

async function writeIndex(wanted: Wanted, out: Writable): Promise<number> {
  const archive = archiveOf(wanted);
  let [kept, temporary] = [archive, ''];
  try {
    await writeCdxj(archive); // beside the segments, for tools that are pointed at the archive itself
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // A collection that we may only read: what is made on the way goes elsewhere.
    temporary = mkdtempSync(join(tmpdir(), 'skein-index-'));
    kept = temporary;
  }
  let count = 0;
  try {
    for await (const line of cdxjLines(archive, kept)) {
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
