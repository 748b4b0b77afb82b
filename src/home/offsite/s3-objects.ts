/**
 * Objects in a bucket of S3, or of anything that speaks its protocol. aws4fetch signs the requests, but they are sent from here,
 * because the address must be a permitted one: a private address only if the user named the endpoint. Answers come from another
 * machine, so each of them is bounded.
 */
import { hash } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { AwsClient } from 'aws4fetch';
import { SkeinError } from '../../base/errors.ts';
import { publicLookup } from '../../crawler/public-lookup.ts';
import type { ObjectInfo, ObjectStore } from './objects.ts';
import { accessTo, parseS3, type S3Access } from './s3-address.ts';

/** When a request has failed. */
interface RequestPatience {
  /** Milliseconds without a byte. */
  readonly silence: number;
  /** Milliseconds that any request may take; a longer one must bring so many bytes a second. */
  readonly least: number;
  readonly slowest: number;
}

const PATIENCE: RequestPatience = { silence: 30_000, least: 60_000, slowest: 10_000 };
/** Bytes of an answer that is not an object. */
const MOST_ANSWER = 4_000_000;
/** Most answers of one listing, and names in each, as the protocol says: 16 TB of pieces. */
const MOST_LISTS = 1000;
const MOST_NAMES = 1000;
/** Most characters of a name after the prefix. */
const LONGEST_NAME = 200;
const TRIES = 3;
const FIRST_WAIT = 200;

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Takes the body of a good answer; a longer body is an error. */
  readonly into?: Uint8Array;
}

interface S3Answer {
  readonly status: number;
  readonly length: number;
  readonly text: string;
}

export function openS3(address: string, environment = process.env, patience = PATIENCE): ObjectStore {
  return new S3Objects(address, environment, patience);
}

class S3Objects implements ObjectStore {
  readonly address: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #access: S3Access;
  readonly #client: AwsClient;
  readonly #agent: http.Agent;
  readonly #patience: RequestPatience;

  constructor(address: string, environment: NodeJS.ProcessEnv, patience: RequestPatience) {
    const place = parseS3(address);
    this.#patience = patience;
    this.address = address;
    this.#bucket = place.bucket;
    this.#prefix = place.prefix;
    this.#access = accessTo(place, environment);
    const { accessKeyId, secretAccessKey, sessionToken, region, url } = this.#access;
    this.#client = new AwsClient({
      ...{ accessKeyId, secretAccessKey, region, service: 's3' },
      ...(sessionToken !== undefined && { sessionToken }),
    });
    const kind = url.startsWith('https:') ? https : http;
    this.#agent = new kind.Agent({ keepAlive: true, maxSockets: 4 });
  }

  async put(name: string, body: Uint8Array): Promise<void> {
    const { status, text } = await this.#ask({ method: 'PUT', name, body });
    if (status !== 200) throw this.#refusal(status, text);
  }

  async get(name: string, offset: number, into: Uint8Array): Promise<number | undefined> {
    if (into.length === 0) return 0;
    const headers = { range: `bytes=${offset}-${offset + into.length - 1}` };
    const { status, text, length } = await this.#ask({ method: 'GET', name, headers, into });
    if (status === 416) return 0;
    if (status === 404 && codeIn(text) !== 'NoSuchBucket') return undefined;
    // 200 is the whole object, from its beginning: only right where that was asked for.
    if (status !== 206 && !(status === 200 && offset === 0)) throw this.#refusal(status, text);
    return length;
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    const found: ObjectInfo[] = [];
    let token = '';
    for (let lists = 0; lists < MOST_LISTS; lists++) {
      const query = {
        ...{ 'list-type': '2', 'encoding-type': 'url', prefix: this.#prefix + prefix },
        ...(token !== '' && { 'continuation-token': token }),
      };
      const { status, text } = await this.#ask({ method: 'GET', name: '', query });
      if (status !== 200) throw this.#refusal(status, text);
      found.push(...this.#named(text));
      const next = plain(/<NextContinuationToken>([^<]{1,2000})</.exec(text)?.[1] ?? '');
      if (next === '' || !/<IsTruncated>true</.test(text))
        return found.sort((one, two) => (one.name < two.name ? -1 : 1));
      if (next === token) throw this.#nonsense('repeats itself');
      token = next;
    }
    // Half a list would look like copies that are missing.
    throw this.#nonsense('has no end');
  }

  /** What one answer of a list names. */
  #named(text: string): ObjectInfo[] {
    const found: ObjectInfo[] = [];
    let names = 0;
    for (const { key, bytes } of contentsIn(text)) {
      if (++names > MOST_NAMES) throw this.#nonsense('has too many entries at once');
      const name = key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : '';
      if (name !== '' && name.length <= LONGEST_NAME) found.push({ name, bytes });
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    const { status, text } = await this.#ask({ method: 'DELETE', name });
    if (status !== 204 && status !== 200 && status !== 404) throw this.#refusal(status, text);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Retries when the other side says that a retry may succeed. */
  async #ask(asked: S3Request): Promise<S3Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#askOnce(asked);
      if ((answer.status < 500 && answer.status !== 429) || answer.status === 507 || attempt === TRIES) return answer;
      await new Promise(resolve => setTimeout(resolve, FIRST_WAIT * 2 ** attempt));
    }
  }

  async #askOnce({ method, name, query = {}, headers = {}, body, into }: S3Request): Promise<S3Answer> {
    const key = name === '' ? '' : (this.#prefix + name).split('/').map(encodeURIComponent).join('/');
    const url = new URL(this.#access.url + key);
    for (const [each, value] of Object.entries(query)) url.searchParams.set(each, value);
    // The other side refuses bytes that have another digest: nothing that was garbled on the way is kept.
    const digest = hash('sha256', body ?? '', 'hex');
    const signed = await this.#client.sign(url.href, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': digest },
    });
    return exchange({
      ...{ method, url, agent: this.#agent, body, into, allowPrivate: this.#access.named, patience: this.#patience },
      headers: Object.fromEntries(signed.headers),
    });
  }

  #nonsense(what: string): SkeinError {
    return new SkeinError('refused', `The list of the bucket ${this.#bucket} ${what}.`);
  }

  /** One sentence, without anything secret. */
  #refusal(status: number, text: string): SkeinError {
    const code = codeIn(text);
    const host = new URL(this.#access.url).host;
    if (code === 'NoSuchBucket' || status === 404)
      return new SkeinError(
        'not-found',
        `There is no bucket ${this.#bucket} at ${host}.`,
        'Create it, or correct its name.',
      );
    if (status === 413 || status === 507 || /Quota|EntityTooLarge|Insufficient/i.test(code))
      return new SkeinError(
        'refused',
        `The bucket ${this.#bucket} is full.`,
        'Make room in it, or name another bucket.',
      );
    if (status === 401 || status === 403)
      return new SkeinError(
        'refused',
        `${host} refuses the key for the bucket ${this.#bucket}${code && `: ${code}`}.`,
        'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what the key may do.',
      );
    return new SkeinError('refused', `${host} answers ${status}${code && ` ${code}`} for the bucket ${this.#bucket}.`);
  }
}

interface S3Exchange extends Pick<S3Request, 'method'> {
  readonly into: Uint8Array | undefined;
  readonly url: URL;
  readonly agent: http.Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly allowPrivate: boolean;
  readonly patience: RequestPatience;
}

function exchange({ method, url, agent, headers, body, into, allowPrivate, patience }: S3Exchange): Promise<S3Answer> {
  const { silence, least, slowest } = patience;
  // An object that comes or goes may be long; of anything else there is little, and nobody takes long over that.
  const most = least + (1000 * Math.max(body?.length ?? 0, into?.length ?? MOST_ANSWER / 10)) / slowest;
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(limit);
      const why = error.code?.startsWith('E') ? error.code : error.message;
      reject(new SkeinError('refused', `${url.host} does not answer: ${why}.`, 'Copying goes on when it does.'));
    };
    const length = body ? { 'content-length': String(body.length) } : {};
    const asked = request(url, {
      ...{ method, agent, timeout: silence, headers: { ...headers, ...length } },
      ...(!allowPrivate && { lookup: publicLookup }),
    });
    const giveUp = () => asked.destroy(new Error('it took too long'));
    const limit = setTimeout(giveUp, most);
    asked.on('error', fail);
    asked.on('timeout', giveUp);
    asked.on('response', answer => {
      const status = answer.statusCode ?? 0;
      const target = status === 200 || status === 206 ? into : undefined;
      const chunks: Buffer[] = [];
      let filled = 0;
      answer.on('data', (chunk: Buffer) => {
        const most = target ? target.length : MOST_ANSWER;
        const fits = chunk.subarray(0, Math.max(0, most - filled));
        if (target) target.set(fits, filled);
        else chunks.push(fits);
        filled += fits.length;
        if (filled >= most && fits.length < chunk.length) answer.destroy();
      });
      answer.on('error', fail);
      answer.on('close', () => {
        clearTimeout(limit);
        if (!answer.complete && filled < (target?.length ?? MOST_ANSWER)) fail(new Error('the answer broke off'));
        else resolve({ status, length: filled, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    asked.end(body);
  });
}

const codeIn = (text: string): string => /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? '';

/** Reads each part once, whatever it holds: entries that are not closed cost no more than others. */
function* contentsIn(text: string): Generator<{ key: string; bytes: number }> {
  for (const part of text.split('<Contents>').slice(1)) {
    const end = part.indexOf('</Contents>');
    const entry = part.slice(0, Math.max(0, end));
    const key = /<Key>([^<]{1,3000})<\/Key>/.exec(entry)?.[1];
    const bytes = /<Size>(\d{1,15})<\/Size>/.exec(entry)?.[1];
    if (key !== undefined && bytes !== undefined) yield { key: unescaped(key), bytes: Number(bytes) };
  }
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key.replace(/\+/g, ' '));
  } catch {
    return ''; // no name of ours
  }
}

const plain = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
  );
