/** What code from elsewhere may decide at an outpost, and how it is asked: the words that both sandboxes share. */
import { SkeinError } from '../base/errors.ts';

export interface DeciderPage {
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without content coding. */
  readonly body: Uint8Array;
}

export interface Decision {
  readonly keep: boolean;
  readonly changed: boolean;
}

export interface Decider {
  /** One page after another. Rejects with 'refused' when the code misbehaves; after that it is gone. */
  decide(page: DeciderPage): Promise<Decision>;
  close(): Promise<void>;
}

export interface SandboxLimits {
  /** Bytes of memory, all in all. */
  readonly memory: number;
  /** Milliseconds for one page. */
  readonly time: number;
  /** Seconds of processor time in its whole life; JavaScript only. */
  readonly processor: number;
}

export const sandboxLimits: SandboxLimits = { memory: 128 << 20, time: 1000, processor: 3600 };

/** The page as the code gets it: a line of JSON, then the body; in memory of its own, which can be handed over. */
export function encodePage({ url, status, headers, body }: DeciderPage): Uint8Array<ArrayBuffer> {
  const line = Buffer.from(`${JSON.stringify({ url, status, headers })}\n`);
  const bytes = new Uint8Array(line.length + body.length);
  bytes.set(line);
  bytes.set(body, line.length);
  return bytes;
}

/** Bit 1: keep; bit 2: changed. */
export function decisionOf(bits: number): Decision {
  return { keep: (bits & 1) !== 0, changed: (bits & 2) !== 0 };
}

export function misbehaved(why: string): SkeinError {
  return new SkeinError('refused', `The decider was ended: ${why}.`);
}
