/**
 * The CDXJ index: one sorted line per stored response or revisit, `surt timestamp {json}`, as replay tools expect it.
 * It is made from the segments alone, so it can always be made again. Each segment has a part, named after the bytes
 * that it covers (`segment-000001-52714.cdxj`): a sealed segment is read once, a growing one from where its part ends.
 */
import * as fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PRIVATE } from '../base/file.ts';
import type { ExportCandidate } from './export.ts';
import { mediaType, storedOf } from './read.ts';
import { openReader } from './reader.ts';
import { segmentName } from './segments.ts';
import type { SegmentInfo, SegmentSource } from './store/segment-store.ts';

interface IndexLine {
  readonly url: string;
  readonly time: number;
  readonly mime: string;
  readonly status: number;
  readonly digest: string;
  readonly length: number;
  readonly offset: number;
  readonly filename: string;
}

/**
 * Sort-friendly URL: `http://www.Example.org:8080/A//b/?c=1&b=2` → `org,example:8080)/a/b?b=2&c=1`, as pywb looks it up:
 * scheme, a leading `www`, letter case, repeated slashes and a slash at the end make no difference.
 */
export function surt(url: string): string {
  const lower = url.toLowerCase();
  if (!/^https?:\/\//.test(lower) || !URL.canParse(lower)) return url;
  const { hostname, port, pathname, search } = new URL(lower.replace(/^(https?:\/\/)www\d*\./, '$1'));
  const host = hostname.split('.').reverse().join(',');
  const query = search === '' ? '' : `?${search.slice(1).split('&').sort().join('&')}`;
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  return `${host}${port === '' ? '' : `:${port}`})${path}${query}`;
}

/** One line without its end. All ASCII, so that bytes sort as JavaScript sorts strings. */
function cdxjLine(line: IndexLine): string {
  const { url, mime, status, digest, length, offset, filename } = line;
  const timestamp = new Date(line.time).toISOString().replace(/\D/g, '').slice(0, 14);
  const fields = {
    url,
    mime,
    status: String(status),
    digest,
    length: String(length),
    offset: String(offset),
    filename,
  };
  return ascii(`${surt(url)} ${timestamp} ${JSON.stringify(fields)}`);
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The sorted lines of all segments. Damaged records are left out. `kept`: the directory where the parts are and stay. */
export async function* cdxjLines(source: SegmentSource, kept: string): AsyncGenerator<string> {
  const parts: string[] = [];
  for (const segment of await source.list()) parts.push(await partOf(source, segment, kept));
  yield* merged(parts);
}

/** The copy that a line is about; its time to the second. */
export function candidateOf(line: string): ExportCandidate {
  const [, stamp = '', ...rest] = line.split(' ');
  const { url, offset, filename } = JSON.parse(rest.join(' ')) as Record<string, string>;
  const [year, month, day, hour, minute, second] = stamp.match(/^\d{4}|\d\d/g)!.map(Number);
  const time = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return { url: url!, time, segment: Number(/\d+/.exec(filename!)?.[0]), offset: Number(offset) };
}

/** Writes `file`, the sorted index of all segments, with the parts beside it in `kept`; returns the number of lines. */
export async function writeCdxj(
  source: SegmentSource,
  kept: string,
  file = path.join(kept, 'index.cdxj'),
): Promise<number> {
  const temporary = `${file}.new`;
  const out = fs.openSync(temporary, 'w', PRIVATE);
  let count = 0;
  try {
    let text = '';
    for await (const line of cdxjLines(source, kept)) {
      text += `${line}\n`;
      count++;
      if (text.length < 1 << 16) continue;
      fs.writeFileSync(out, text);
      text = '';
    }
    fs.writeFileSync(out, text);
  } finally {
    fs.closeSync(out);
  }
  fs.renameSync(temporary, file);
  return count;
}

/** Deletes the index parts of segments from `segment` on, which are about to be cut. */
export function dropParts(directory: string, segment: number): void {
  for (const part of listParts(directory)) if (part.segment >= segment) fs.unlinkSync(part.file);
}

/** Deletes the index part of one segment. */
export function dropPart(directory: string, segment: number): void {
  for (const part of listParts(directory)) if (part.segment === segment) fs.unlinkSync(part.file);
}

interface IndexPart {
  readonly segment: number;
  readonly bytes: number;
  readonly file: string;
}

function listParts(directory: string): IndexPart[] {
  const parts: IndexPart[] = [];
  for (const name of fs.readdirSync(directory)) {
    const match = /^segment-(\d{6,})-(\d+)\.cdxj$/.exec(name);
    if (match) parts.push({ segment: Number(match[1]), bytes: Number(match[2]), file: path.join(directory, name) });
  }
  return parts;
}

/** The part that covers all of a segment's whole records, made or extended as needed. */
async function partOf(source: SegmentSource, segment: SegmentInfo, directory: string): Promise<string> {
  const found = listParts(directory).filter(part => part.segment === segment.id);
  const best = found.filter(part => part.bytes <= segment.bytes).sort((a, b) => b.bytes - a.bytes)[0];
  let file = best?.file;
  if (best?.bytes !== segment.bytes) {
    const { lines, end } = await linesOf(source, segment, best?.bytes ?? 0);
    file = path.join(directory, segmentName(segment.id).replace(/\.warc\.gz$/, `-${end}.cdxj`));
    const all = best ? fs.readFileSync(best.file, 'latin1').split('\n').slice(0, -1).concat(lines) : lines;
    fs.writeFileSync(
      `${file}.new`,
      all
        .sort()
        .map(line => `${line}\n`)
        .join(''),
      { encoding: 'latin1', mode: PRIVATE },
    );
    fs.renameSync(`${file}.new`, file);
  }
  for (const old of found) if (old.file !== file) fs.unlinkSync(old.file);
  return file!;
}

/** Lines of the records from `start` on, unsorted, and where the last whole record ends. */
async function linesOf(
  source: SegmentSource,
  segment: SegmentInfo,
  start: number,
): Promise<{ lines: string[]; end: number }> {
  const filename = segmentName(segment.id);
  const lines: string[] = [];
  let end = start;
  for await (const entry of openReader(source, segment, { start })) {
    const { offset, length } = entry;
    // Damage inside is verify's business; at the end it may be a record that is being written.
    if (entry.kind === 'problem') continue;
    end = offset + length;
    const type = entry.record.headers.get('warc-type');
    if (type !== 'response' && type !== 'revisit' && type !== 'resource') continue;
    const { url, time, status, digest, headers } = storedOf(entry.record);
    if (Number.isNaN(time)) continue;
    const mime = type === 'revisit' ? 'warc/revisit' : mediaType(headers);
    lines.push(cdxjLine({ url, time, mime, status, digest, length, offset, filename }));
  }
  return { lines, end };
}

/** Merges sorted files. `heads` is kept sorted with the smallest line last. */
async function* merged(files: readonly string[]): AsyncGenerator<string> {
  const heads: { line: string; rest: AsyncIterator<string> }[] = [];
  const push = async (rest: AsyncIterator<string>) => {
    const next = await rest.next();
    if (next.done) return;
    let low = 0;
    for (let high = heads.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (heads[middle]!.line > next.value) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, { line: next.value, rest });
  };
  for (const file of files) {
    const input = fs.createReadStream(file, 'latin1');
    await push(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]());
  }
  for (let head = heads.pop(); head; head = heads.pop()) {
    yield head.line;
    await push(head.rest);
  }
}
