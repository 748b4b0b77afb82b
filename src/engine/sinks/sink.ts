/** Where data goes that is brought, not fetched: one small port, and all of them keep the same promises (test/contracts). */
import { createHmac } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesAddress } from '../../base/domain.ts';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { harmlessJson } from '../../base/harmless.ts';
import { send } from '../../crawler/send.ts';
import { openS3 } from '../../home/offsite/s3-objects.ts';

/** Some lines of JSON. */
export interface Part {
  /** Stays the same however often it is brought: whoever has seen it has it. */
  readonly id: string;
  /** Of all parts that went there, from 1 on. */
  readonly number: number;
  readonly text: string;
}

export interface Sink {
  /** Resolves when the other side has the part; throws NotTaken when it may be brought again. */
  take(part: Part, signal: AbortSignal): Promise<void>;
}

/** In words that a person understands. */
export class NotTaken extends Error {}

interface SinkTerms {
  /** Signs what a webhook gets. */
  readonly secret?: string | undefined;
  /** The name of a webhook may lead to a private address. */
  readonly allowPrivate?: boolean | undefined;
}

/** `-`, a web address, a bucket, or a directory. */
export function sinkTo(target: string, terms: SinkTerms = {}): Sink {
  if (target === '-') return standardOutput;
  if (/^https?:\/\//i.test(target)) return webhook(target, terms);
  if (/^s3:\/\//i.test(target)) return bucket(target);
  if (/^[a-z][\w+.-]*:\/\//i.test(target))
    throw new SkeinError(
      'bad-option',
      `Nothing can be delivered to ${target}.`,
      'Name a directory, an http or https address, s3://bucket/prefix, or - for standard output.',
    );
  return directory(target);
}

const standardOutput: Sink = {
  take: ({ text }) =>
    new Promise((resolve, reject) => {
      process.stdout.write(harmlessJson(text), error => (error ? reject(error) : resolve()));
    }),
};

/** A file for each part, whole when it has its name: one that is brought again takes the place of the first. */
function directory(path: string): Sink {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new SkeinError('refused', `${path} cannot be created: ${systemWords(error)}.`, 'Name another directory.');
  }
  return {
    async take({ number, text }) {
      const file = join(path, nameOf(number));
      try {
        rmSync(`${file}.part`, { force: true }); // of a run that was killed, or a link that somebody laid there
        writeFileSync(`${file}.part`, text, { flag: 'wx', flush: true });
        renameSync(`${file}.part`, file);
      } catch (error) {
        throw new NotTaken(`${path} cannot be written: ${systemWords(error)}`);
      }
    },
  };
}

const nameOf = (number: number): string => `chunks-${String(number).padStart(8, '0')}.jsonl`;

/** An object for each part, as a directory has files. */
function bucket(address: string): Sink {
  const objects = openS3(address);
  return {
    async take({ number, text }, signal) {
      try {
        await objects.put(nameOf(number), Buffer.from(text));
      } catch (error) {
        // A bucket that is not there is a mistake of whoever named it; the rest may be better in a while.
        if (!(error instanceof SkeinError) || error.code !== 'refused' || signal.aborted) throw error;
        throw new NotTaken(error.message.replace(/\.$/, ''));
      }
    },
  };
}

function webhook(url: string, { secret, allowPrivate = namesAddress(url) }: SinkTerms): Sink {
  return {
    async take({ id, number, text: body }, signal) {
      const time = new Date().toISOString();
      const signature = secret && createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      const headers = {
        ...{ 'content-type': 'application/x-ndjson', 'idempotency-key': id, 'skein-time': time },
        'skein-part': String(number),
        ...(signature && { 'skein-signature': `sha256=${signature}` }),
      };
      const { status } = await send({ method: 'POST', url, headers, body, signal, allowPrivate }).catch(error => {
        throw new NotTaken((error as Error).message.replace(/\.$/, ''));
      });
      if (status < 200 || status > 299) throw new NotTaken(`${new URL(url).host} answers ${status}`);
    },
  };
}
