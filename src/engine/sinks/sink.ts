/** Where data goes that is brought, not fetched: one small port, and all of them keep the same promises (test/contracts). */
import { createHmac } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { namesAddress } from '../../base/domain.ts';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { send } from '../../crawler/send.ts';

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

/** `-`, a web address, or a directory. */
export function sinkTo(target: string, terms: SinkTerms = {}): Sink {
  if (target === '-') return standardOutput;
  if (/^https?:\/\//i.test(target)) return webhook(target, terms);
  if (/^[a-z][\w+.-]*:\/\//i.test(target))
    throw new SkeinError(
      'bad-option',
      `Nothing can be brought to ${target}.`,
      'Name a directory, an http or https address, or - for standard output.',
    );
  return directory(target);
}

const standardOutput: Sink = {
  take: ({ text }) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, error => (error ? reject(error) : resolve()));
    }),
};

/** A file for each part, whole when it has its name: one that is brought again takes the place of the first. */
function directory(path: string): Sink {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new SkeinError('refused', `${path} cannot be made: ${systemWords(error)}.`, 'Name another directory.');
  }
  return {
    async take({ number, text }) {
      const file = join(path, `chunks-${String(number).padStart(8, '0')}.jsonl`);
      const opened = openSync(`${file}.part`, 'w');
      writeSync(opened, text);
      fsyncSync(opened);
      closeSync(opened);
      renameSync(`${file}.part`, file);
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
