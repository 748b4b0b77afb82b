/**
 * Copies that follow a page between its stored versions: the newest HTTP message as a zstd delta to the version in the
 * archive. What differs between them is no news, but whoever reads the copy is to see the page as it is.
 */
import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '../base/errors.ts';
import { RECORD_LIMIT, type Stored, storedOf } from './read.ts';

export interface Delta {
  /** SHA-256 of the message, first 16 bytes. */
  readonly digest: Uint8Array;
  readonly delta: Uint8Array;
}

/** Header and body without content coding, so that two versions have long stretches in common. */
export function messageOf(stored: Stored): Uint8Array {
  const { bytes, problem } = stored.decoded();
  const coded = (stored.headers.get('content-encoding') ?? '') !== '';
  if (!coded || problem !== undefined) return Buffer.concat([stored.head, stored.body]);
  const lines = Buffer.from(stored.head).toString('latin1').split('\r\n');
  const head = lines.filter(line => !/^(?:content-encoding|content-length|transfer-encoding)[ \t]*:/i.test(line));
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), bytes]);
}

export function deltaTo(message: Uint8Array, base: Uint8Array): Delta {
  const windowLog = Math.min(26, Math.max(17, Math.ceil(Math.log2(message.length + base.length + 1))));
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: windowLog };
  return { digest: digestOf(message), delta: zstdCompressSync(message, { params, dictionary: Buffer.from(base) }) };
}

/** The copy that followed `base`, taken at `time`. Throws `damaged` when the delta does not belong to it. */
export function followedFrom(base: Stored, time: number, { digest, delta }: Delta): Stored {
  const message = inflated(delta, messageOf(base));
  if (message === undefined || Buffer.compare(digestOf(message), digest) !== 0) {
    throw new SkeinError(
      'damaged',
      `The newest copy of ${base.url} cannot be read.`,
      'The next visit that finds a change stores it again.',
    );
  }
  const copy = storedOf({ kind: 'record', version: '1.1', headers: base.record, block: message });
  const { body } = copy;
  return { ...copy, url: base.url, time, digest: `sha256:${hash('sha256', body, 'hex')}` };
}

function inflated(delta: Uint8Array, base: Uint8Array): Uint8Array | undefined {
  try {
    const params = { [constants.ZSTD_d_windowLogMax]: 26 };
    return zstdDecompressSync(delta, { params, dictionary: Buffer.from(base), maxOutputLength: RECORD_LIMIT });
  } catch {
    return undefined; // told by the caller
  }
}

function digestOf(message: Uint8Array): Uint8Array {
  return hash('sha256', message, 'buffer').subarray(0, 16);
}
