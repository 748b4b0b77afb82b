/** Stored copies of a page: the newest, or those of numbered versions. Bodies are in base64, as JSON can carry them. */
import type { Plain, Stored } from '../../archive/read.ts';
import { meaningOf } from '../../errand/reasons.ts';
import type { LookedUpPage } from '../../home/answers/lookup.ts';
import { type Copies, type Current, openCopies } from '../../home/copies/copies.ts';
import { FLAG_FILTERED, FLAG_NOARCHIVE } from '../../ledger/pages/known-row.ts';
import type { PartitionReader } from '../partition-reader.ts';
import { type AboutPage, pageQuestion } from './page.ts';

/** A stored response, decoded. */
interface ToldCopy {
  readonly url: string;
  readonly time: number;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Status line and headers as they came, in base64; and the body without its content coding. */
  readonly head: string;
  readonly body: string;
  /** Why that is not the whole body. */
  readonly problem?: Plain['problem'];
}

/** The copy in the form of a stored response. */
export type ReadCopy = Pick<Stored, 'url' | 'time' | 'status' | 'headers' | 'head' | 'decoded'>;

export function readCopy({ headers, head, body, problem, ...about }: ToldCopy): ReadCopy {
  const bytes = Buffer.from(body, 'base64');
  return {
    ...about,
    headers: new Map(headers),
    head: Buffer.from(head, 'base64'),
    decoded: (limit = bytes.length) => ({ bytes: bytes.subarray(0, limit), ...(problem && { problem }) }),
  };
}

function toldOf(stored: Stored): ToldCopy {
  const { url, time, status, headers, head } = stored;
  const { bytes, problem } = stored.decoded();
  return {
    ...{ url, time, status, headers: [...headers] },
    ...{ head: inBase64(head), body: inBase64(bytes) },
    ...(problem && { problem }),
  };
}

const inBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

const copiesOf = ({ ledger }: PartitionReader): Copies => openCopies(ledger);

interface CopyWanted extends AboutPage {
  /** `newest`: as the page was last seen; `current`: also with what is inferred since. */
  readonly which: 'newest' | 'current';
}

interface CopyTold {
  readonly url: string;
  readonly copy: ToldCopy | null;
  /** The copy was inferred, not fetched in this form. */
  readonly inferred?: Current['inferred'];
  /** Why there is no copy; empty = there is one. */
  readonly whyNot: string;
}

export const copyQuestion = pageQuestion('copy', async (reader, found, { which }: CopyWanted): Promise<CopyTold> => {
  const { page, known } = found;
  const copies = reader.keep(copiesOf);
  const newest = async (): Promise<Current | undefined> => {
    const copy = known && (await copies.newest(known));
    return copy && { copy };
  };
  const current = which === 'newest' ? await newest() : known && (await copies.current(known));
  if (!current) return { url: page.url, copy: null, whyNot: whyNot(found) };
  const { copy, inferred } = current;
  return { url: page.url, copy: toldOf(copy), whyNot: '', ...(inferred && { inferred }) };
});

function whyNot({ page, known }: LookedUpPage): string {
  const flags = known?.flags ?? 0;
  if (flags & FLAG_NOARCHIVE) return 'it asks not to be archived';
  const code = flags & FLAG_FILTERED ? 'filtered' : (page.refused ?? known?.reason);
  if (code === undefined) return 'it was not visited yet';
  return meaningOf(code);
}

interface VersionsWanted extends AboutPage {
  /** Numbers from 1 on, as the history of the page gives them. */
  readonly versions: readonly number[];
}

/** For each version that was asked for; null = it has no stored copy. */
export const versionsQuestion = pageQuestion(
  'versions',
  async (reader, { page }, { versions }: VersionsWanted): Promise<readonly (ToldCopy | null)[]> => {
    const visits = reader.ledger.visits.of(page.id).filter(visit => visit.segment !== null);
    const told: (ToldCopy | null)[] = [];
    for (const version of versions) {
      const visit = visits[version - 1];
      const stored = visit && (await reader.keep(copiesOf).of(visit));
      told.push(stored ? toldOf(stored) : null);
    }
    return told;
  },
);
