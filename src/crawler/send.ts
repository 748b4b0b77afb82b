/**
 * One small request to an address that somebody named: a hub, a subscriber, IndexNow, a webhook. It follows no redirect, reads
 * little of the answer, and ends in time. Private addresses are refused unless whoever runs this allows them, and the
 * address that is dialled is the one that was checked: else a subscriber, or whoever answers for a name, could make this
 * machine ask its neighbours.
 */
import { isIP } from 'node:net';
import { SkeinError } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { userAgent } from '../errand/agent.ts';
import { isPublic } from './fetch/addresses.ts';
import { publicLookup } from './public-lookup.ts';

interface Sending {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly allowPrivate: boolean;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
}

interface SentAnswer {
  readonly status: number;
  readonly body: string;
}

const MOST_ANSWER = 16_384;
const PATIENCE = 20_000;

/** Rejects with a SkeinError when no answer comes. It names the host alone: what follows may be a secret. */
export function send({ method, url, headers, body, allowPrivate, signal: given }: Sending): Promise<SentAnswer> {
  const { protocol, hostname, host } = new URL(url);
  const literal = hostname.replace(/[[\]]/g, '');
  if (!allowPrivate && isIP(literal) !== 0 && !isPublic(literal)) {
    return Promise.reject(new SkeinError('refused', `${host} does not answer: its address is private.`));
  }
  const { request } =
    protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(PATIENCE);
    const signal = given ? AbortSignal.any([given, limit]) : limit;
    const fail = (error: Error): void =>
      reject(
        new SkeinError('refused', `${host} does not answer: ${signal.aborted ? 'it took too long' : wordsOf(error)}.`),
      );
    const asked = request(url, {
      method,
      headers: { 'user-agent': userAgent(version), ...(body !== undefined && lengthOf(body)), ...headers },
      signal,
      agent: false,
      ...(!allowPrivate && { lookup: publicLookup }),
    });
    asked.on('error', fail);
    asked.on('response', answer => {
      let text = '';
      answer.setEncoding('latin1');
      answer.on('data', chunk => {
        text += chunk;
        if (text.length > MOST_ANSWER) answer.destroy();
      });
      answer.on('error', fail);
      answer.on('close', () => resolve({ status: answer.statusCode ?? 0, body: text.slice(0, MOST_ANSWER) }));
    });
    asked.end(body);
  });
}

function lengthOf(body: string): Record<string, string> {
  return { 'content-length': String(Buffer.byteLength(body)) };
}

function wordsOf(error: NodeJS.ErrnoException): string {
  return error.code?.startsWith('E') ? error.code : error.message;
}
