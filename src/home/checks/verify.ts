/**
 * Checks the ledger against the archive: the ledger is intact, every place that it names holds the record of that page, and
 * every record is named. It only reads; repair.ts deals with lost copies.
 */
import { readStored, type Stored, type StoredReader } from '../../archive/read.ts';
import { segmentName } from '../../archive/segments.ts';
import { committedEnds, type SegmentSource } from '../../archive/store/segment-store.ts';
import { type ArchiveCheck, type ArchiveProblem, type VerifiedRecord, verifyArchive } from '../../archive/verify.ts';
import { SkeinError } from '../../base/errors.ts';
import { PART_OF } from '../../errand/warc/part-records.ts';
import { digestLabel, payloadDigest } from '../../errand/warc/warc.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openCopies } from '../copies/copies.ts';
import { segmentsOf } from '../copies/segments-of.ts';

/** A copy that the ledger names and the archive cannot give back. */
interface LostCopy {
  readonly page: number;
  readonly url: string;
  /** Time of the visit that stored it. */
  readonly time: number;
  readonly segment: number;
  /** Offset of the response, which follows its request. */
  readonly offset: number;
}

export interface CollectionReport extends Omit<ArchiveCheck, 'problems'> {
  /** Copies that the ledger names. */
  readonly copies: number;
  /** The ledger contradicts itself, so nothing was compared with it. */
  readonly ledgerDamaged: boolean;
  readonly lost: readonly LostCopy[];
  /** Places of records that are damaged or make no sense, as `segment offset`. */
  readonly damaged: readonly string[];
  /** Damaged records that a repair has accepted. */
  readonly writtenOff: number;
  readonly problems: readonly string[];
}

/** Setting: places of damaged records to which the ledger no longer refers. */
export const WRITTEN_OFF = 'written-off';

const LEDGER_PROBLEMS = 20;

/** Newest copies that cannot be rebuilt from their version and delta; if the version is lost, only that is reported. */
async function followedProblems(ledger: Ledger, lost: readonly LostCopy[]): Promise<string[]> {
  const copies = openCopies(ledger);
  const without = new Set(lost.map(({ page }) => page));
  const problems: string[] = [];
  for (const { page } of ledger.storage.followed.all()) {
    const known = without.has(page) ? undefined : ledger.pages.known(page);
    try {
      if (known) await copies.newest(known);
    } catch (error) {
      problems.push(`${ledger.pages.get(page)?.url}: ${(error as Error).message}`);
    }
  }
  copies.close();
  return problems;
}

export async function verifyCollection(
  ledger: Ledger,
  onProgress: (records: number) => void = () => {},
): Promise<CollectionReport> {
  using opened = new DisposableStack();
  const archive = opened.adopt(segmentsOf(ledger), each => each.close());
  const inLedger = ledgerProblems(ledger);
  if (inLedger.length > 0) {
    const check = await verifyArchive(archive);
    const problems = [...inLedger.map(each => `ledger: ${each}`), ...check.problems.map(say)];
    return { ...check, copies: 0, ledgerDamaged: true, lost: [], damaged: [], writtenOff: 0, problems };
  }
  // What the ledger says is read first: a crawl that runs meanwhile writes on behind it.
  const comparison = new LedgerComparison(ledger);
  const upTo = committedEnds(await archive.list(), comparison.noted);
  let records = 0;
  const see = (record: VerifiedRecord) => {
    if (++records % 1000 === 0) onProgress(records);
    comparison.see(record);
  };
  const check = await verifyArchive(archive, see, upTo);
  const accepted = new Set(ledger.settings.get<string[]>(WRITTEN_OFF) ?? []);
  const all = [...comparison.problems, ...check.problems];
  const found = all.filter(({ segment, offset }) => !accepted.has(`${segment} ${offset}`));
  const lost = await comparison.lost(archive);
  const ends = new Map(check.ends);
  for (const { segment, offset, length } of comparison.rescued)
    ends.set(segment, Math.max(ends.get(segment) ?? 0, offset + length));
  return {
    ...check,
    ends,
    copies: comparison.copies,
    ledgerDamaged: false,
    lost,
    damaged: [...all, ...lost].map(({ segment, offset }) => `${segment} ${offset}`),
    writtenOff: all.length - found.length,
    problems: [...missing(comparison.noted, check, lost), ...found.map(say), ...(await followedProblems(ledger, lost))],
  };
}

const say = ({ segment, offset, problem }: ArchiveProblem) => `${segmentName(segment)} at ${offset}: ${problem}`;

function ledgerProblems(ledger: Ledger): string[] {
  try {
    return ledger.storage.problems(LEDGER_PROBLEMS);
  } catch (error) {
    return [(error as Error).message]; // too damaged to be checked
  }
}

/** Files that are gone or cut, with the copies lost in them; and single lost copies in other files. */
function missing(segments: readonly NotedLength[], check: ArchiveCheck, lost: readonly LostCopy[]): string[] {
  const problems: string[] = [];
  const named = new Set<number>();
  for (const { id, length } of segments) {
    const bytes = check.lengths.get(id);
    if (bytes !== undefined && bytes >= length) continue;
    named.add(id);
    const copies = lost.filter(({ segment }) => segment === id).length;
    const what = bytes === undefined ? 'is missing' : `ends at ${bytes} of ${length} bytes`;
    problems.push(`${segmentName(id)} ${what}: ${copies.toLocaleString('en')} copies in it are lost`);
  }
  const single = lost.filter(({ segment }) => !named.has(segment));
  return [
    ...problems,
    ...single.map(({ url, segment, offset }) => `${segmentName(segment)} at ${offset}: the copy of ${url} is lost`),
  ];
}

/** A segment, and its length as the ledger had it when the check began. */
type NotedLength = ReturnType<Ledger['storage']['segments']['all']>[number];

interface ExpectedCopy extends LostCopy {
  readonly length: number;
}

/** What the ledger expects, and which of that has not been seen yet. */
class LedgerComparison {
  readonly problems: ArchiveProblem[] = [];
  readonly copies: number;
  /** Copies that reading in order missed, but that are at their places. */
  readonly rescued: ExpectedCopy[] = [];
  readonly #expected = new Map<string, ExpectedCopy>();
  /** Records that nothing names any more and that wait for their segment to be compacted. */
  readonly #dropped: ReadonlySet<string>;
  readonly noted: readonly NotedLength[];
  /** Copies whose body is in another record, with its URL and time. */
  readonly #references: { readonly copy: ExpectedCopy; readonly original: string }[] = [];

  constructor(ledger: Ledger) {
    const { noted, dropped } = ledger.queries.atOnce(() => {
      for (const copy of ledger.storage.copies.every())
        this.#expected.set(`${copy.segment} ${copy.offset}`, { ...copy });
      return { noted: ledger.storage.segments.all(), dropped: ledger.storage.dropped.places() };
    });
    this.noted = noted;
    this.#dropped = dropped;
    this.copies = this.#expected.size;
  }

  see({ segment, offset, length, record, whole }: VerifiedRecord): void {
    const type = record.headers.get('warc-type');
    if (!whole || (type !== 'response' && type !== 'revisit' && type !== 'resource')) return;
    if (record.headers.has(PART_OF)) return; // the ledger speaks of the page that it is a part of
    const key = `${segment} ${offset}`;
    const copy = this.#expected.get(key);
    if (copy === undefined && this.#dropped.has(key)) return;
    const problem = mismatch(copy, record.headers.get('warc-target-uri') ?? '', length);
    if (problem !== undefined) this.problems.push({ segment, offset, problem });
    else this.#expected.delete(key);
    if (copy === undefined || problem !== undefined || type !== 'revisit') return;
    const time = Date.parse(record.headers.get('warc-refers-to-date') ?? '');
    this.#references.push({ copy, original: nameOf(record.headers.get('warc-refers-to-target-uri') ?? '', time) });
  }

  /**
   * Once all records were seen. Reading in order may pass over a record behind damage, so each that was not met is read
   * once more at its place: what can be read and checked there is not lost. A copy that refers to a lost one is, too.
   */
  async lost(archive: SegmentSource): Promise<LostCopy[]> {
    const reader = readStored(archive);
    const lost: LostCopy[] = [];
    for (const copy of this.#expected.values()) if (!(await this.#isThere(reader, copy))) lost.push(copy);
    const originals = new Set(lost.map(({ url, time }) => nameOf(url, time)));
    const hollow = this.#references.filter(({ original }) => originals.has(original));
    return [...lost, ...hollow.map(({ copy }) => copy)];
  }

  /** The record is at its place, belongs to the page, and its payload has the digest that it names. */
  async #isThere(reader: StoredReader, copy: ExpectedCopy): Promise<boolean> {
    const { segment, offset, length, url } = copy;
    let stored: Stored;
    try {
      stored = await reader.read({ segment, offset, length, requestLength: 0 });
    } catch (error) {
      // A disk or a store that fails says nothing of the copy: only what was read and is damaged may be given up.
      if (!(error instanceof SkeinError) || error.code !== 'damaged') throw error;
      return false; // the scan before has reported what is wrong
    }
    const { original } = stored;
    if (stored.url !== url) return false;
    if (original) this.#references.push({ copy, original: nameOf(original.url, original.time) });
    else if (stored.digest !== digestLabel(payloadDigest(stored.body))) return false;
    this.rescued.push(copy);
    return true;
  }
}

function mismatch(copy: ExpectedCopy | undefined, url: string, length: number): string | undefined {
  if (!copy) return `the ledger has no copy of ${url} there`;
  if (copy.url !== url) return `${url}, the ledger says ${copy.url}`;
  return copy.length === length ? undefined : `${length} bytes, not ${copy.length}`;
}

const nameOf = (url: string, time: number) => `${Math.floor(time)} ${url}`;
