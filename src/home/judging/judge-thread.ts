/** The thread behind judging.ts: compares the page that came with the stored copy. Home's thread parses nothing. */
import { parentPort } from 'node:worker_threads';
import { deltaTo, messageOf } from '../../archive/following.ts';
import { RECORD_LIMIT, type Stored, storedOf } from '../../archive/read.ts';
import { piecesOf } from '../../crawler/analysis/analyse.ts';
import { readMember } from '../../errand/warc/gzip.ts';
import { parseRecord } from '../../errand/warc/warc.ts';
import { announced } from '../../judge/announced.ts';
import { type Difference, editsBetween, wholeEdit } from '../../judge/edits.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { InferredRow } from '../../ledger/storage/inferred.ts';
import { type Copies, followingOf, openCopies } from '../copies/copies.ts';
import { cachedFor } from './cached.ts';
import { Inference, refutes } from './inference.ts';
import type { Comparison, ForgetQuestion, InferQuestion, JudgeAnswer, JudgeQuestion } from './questions.ts';

const port = parentPort!;

/** A partition as far as it was read. */
interface Read {
  readonly ledger: Ledger;
  readonly copies: Copies;
  readonly inference: Inference;
}

/** By directory. */
const partitions = new Map<string, Read>();

function read(directory: string): Read {
  let opened = partitions.get(directory);
  if (!opened) {
    const ledger = new Ledger(directory, 'read');
    opened = { ledger, copies: openCopies(ledger), inference: new Inference() };
    partitions.set(directory, opened);
  }
  return opened;
}

function forget(directory: string): void {
  const opened = partitions.get(directory);
  partitions.delete(directory);
  opened?.copies.close();
  opened?.ledger.close();
}

async function compare(question: JudgeQuestion): Promise<Comparison | undefined> {
  const { copy, followed, inferred, record } = question;
  const { copies, inference } = read(question.directory);
  const base = await copies.stored(copy);
  const now = recordOf(record);
  if (!base || !now) return undefined;
  const before = followed ? followingOf(base, followed) : base;
  const message = messageOf(now);
  const follows = deltaTo(message, messageOf(base));
  // A delta that saves nothing is not worth a copy that needs two pieces to be read.
  const [old, fresh] = [latin1(before), latin1(now)];
  inference.see(question, old, fresh);
  const refuted = inferred !== undefined && refutes(fresh, old, latin1(followingOf(base, inferred)));
  const small = 2 * follows.delta.length < record.length;
  return {
    ...differenceOf(before, now, latestOf(now, question.time)),
    follows,
    small,
    refuted,
    cached: cachedFor(now.headers),
  };
}

function latin1(stored: Stored): string {
  return Buffer.from(stored.decoded().bytes).toString('latin1');
}

function recordOf(member: Uint8Array): Stored | undefined {
  const read = readMember(member, RECORD_LIMIT);
  const record = read.kind === 'member' ? parseRecord(read.data) : undefined;
  return record?.kind === 'record' ? storedOf(record) : undefined;
}

/** A clock of ours that is slow makes no date of a server's one that lies ahead. */
function latestOf({ headers }: Stored, time: number): number {
  const said = ['date', 'last-modified'].map(name => Date.parse(headers.get(name) ?? ''));
  return Math.max(time, ...said.filter(each => !Number.isNaN(each)));
}

function differenceOf(before: Stored, now: Stored, time: number): Difference & { readonly measured: boolean } {
  const bodies = [before, now].map(each => each.decoded().bytes) as [Uint8Array, Uint8Array];
  const old = piecesOf({ headers: before.headers, body: bodies[0] });
  const fresh = piecesOf({ headers: now.headers, body: bodies[1] });
  if (old && fresh) return { ...editsBetween(announced(old, time), announced(fresh, time)), measured: true };
  const same = Buffer.compare(bodies[0], bodies[1]) === 0;
  return { edits: same ? [] : [wholeEdit], words: { removed: 0, added: 0, all: 0 }, measured: false };
}

/** Nothing follows from what cannot be read. */
async function infer(directory: string): Promise<readonly InferredRow[]> {
  try {
    const { ledger, copies, inference } = read(directory);
    return await inference.infer(ledger, copies);
  } catch {
    return []; // the next visits bring what would have been inferred
  }
}

async function answer(question: JudgeQuestion | InferQuestion | ForgetQuestion): Promise<void> {
  if ('forget' in question) {
    forget(question.forget);
    return;
  }
  if ('infer' in question) {
    port.postMessage({ id: question.infer, inferred: await infer(question.directory) } satisfies JudgeAnswer);
    return;
  }
  let found: Comparison | undefined;
  try {
    found = await compare(question);
  } catch {
    // A copy that cannot be read cannot be compared with: the page counts as changed, and is stored anew.
  }
  port.postMessage({ id: question.id, ...(found && { found }) } satisfies JudgeAnswer);
}

/** One after the other: what is inferred depends on the order, and a partition is forgotten only when nothing reads it. */
let before: Promise<void> = Promise.resolve();
port.on('message', question => {
  before = before.then(() => answer(question));
});
