/** The thread behind judging.ts: compares the page that came with the stored copy. Home's thread parses nothing. */
import { parentPort, workerData } from 'node:worker_threads';
import { deltaTo, messageOf } from '../../archive/following.ts';
import { RECORD_LIMIT, type Stored, storedOf } from '../../archive/read.ts';
import { piecesOf } from '../../crawler/analysis/analyse.ts';
import { readMember } from '../../errand/warc/gzip.ts';
import { parseRecord } from '../../errand/warc/warc.ts';
import { type Difference, editsBetween, wholeEdit } from '../../judge/edits.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { InferredRow } from '../../ledger/pages/inferred.ts';
import { type Copies, openCopies } from '../copies/copies.ts';
import { Inference, refutes } from './inference.ts';
import type { Comparison, InferQuestion, JudgeAnswer, JudgeQuestion, JudgeThreadData } from './judging.ts';

const port = parentPort!;
const { directory } = workerData as JudgeThreadData;
let reading: { readonly ledger: Ledger; readonly copies: Copies } | undefined;
const inference = new Inference();

function read(): { readonly ledger: Ledger; readonly copies: Copies } {
  if (!reading) {
    const ledger = new Ledger(directory, 'read');
    reading = { ledger, copies: openCopies(ledger, directory) };
  }
  return reading;
}

function compare(question: JudgeQuestion): Comparison | undefined {
  const { copy, followed, inferred, record } = question;
  const { copies: opened } = read();
  const base = opened.stored(copy);
  const now = recordOf(record);
  if (!base || !now) return undefined;
  const before = followed ? opened.following(base, followed) : base;
  const message = messageOf(now);
  const follows = deltaTo(message, messageOf(base));
  // A delta that saves nothing is not worth a copy that needs two pieces to be read.
  const [old, fresh] = [latin1(before), latin1(now)];
  inference.see(question, old, fresh);
  const refuted = inferred !== undefined && refutes(fresh, old, latin1(opened.following(base, inferred)));
  return { ...differenceOf(before, now), follows, small: 2 * follows.delta.length < record.length, refuted };
}

function latin1(stored: Stored): string {
  return Buffer.from(stored.decoded().bytes).toString('latin1');
}

function recordOf(member: Uint8Array): Stored | undefined {
  const read = readMember(member, RECORD_LIMIT);
  const record = read.kind === 'member' ? parseRecord(read.data) : undefined;
  return record?.kind === 'record' ? storedOf(record) : undefined;
}

function differenceOf(before: Stored, now: Stored): Difference & { readonly measured: boolean } {
  const bodies = [before, now].map(each => each.decoded().bytes) as [Uint8Array, Uint8Array];
  const old = piecesOf({ headers: before.headers, body: bodies[0] });
  const fresh = piecesOf({ headers: now.headers, body: bodies[1] });
  if (old && fresh) return { ...editsBetween(old, fresh), measured: true };
  const same = Buffer.compare(bodies[0], bodies[1]) === 0;
  return { edits: same ? [] : [wholeEdit], words: { removed: 0, added: 0, all: 0 }, measured: false };
}

/** Nothing follows from what cannot be read. */
function infer(): readonly InferredRow[] {
  try {
    return inference.infer(read().ledger, read().copies);
  } catch {
    return []; // the next visits bring what would have been inferred
  }
}

port.on('message', (question: JudgeQuestion | InferQuestion) => {
  if ('infer' in question) {
    port.postMessage({ id: question.infer, inferred: infer() } satisfies JudgeAnswer);
    return;
  }
  let found: Comparison | undefined;
  try {
    found = compare(question);
  } catch {
    // A copy that cannot be read cannot be compared with: the page counts as changed, and is stored anew.
  }
  const answer: JudgeAnswer = { id: question.id, ...(found && { found }) };
  port.postMessage(answer);
});
