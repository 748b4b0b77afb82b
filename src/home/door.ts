/**
 * The door of a running home is a tiny HTTP server on loopback, through which other processes of the same user (the workbench,
 * `skein steer`) ask for its state and give orders. Its address and the token that opens it are in home.json in the data
 * directory, readable by the owner only.
 *
 * It answers nobody without the token, listens nowhere but on loopback, and serves no pages.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ErrorCode, SkeinError } from '../base/errors.ts';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { createServer } from '../base/http.ts';
import type { HomeControl, HomeState, Obeyed } from './control.ts';
import type { SteerOrder } from './orders.ts';

interface DoorAddress {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

const FILE = 'home.json';
const MOST_BODY = 2_000_000;
/** Milliseconds that a home may take to answer; its loop turns several times a second. */
const PATIENCE = 10_000;

interface OpenDoor {
  readonly port: number;
  close(): Promise<void>;
}

export async function openDoor(directory: string, control: HomeControl): Promise<OpenDoor> {
  const token = randomBytes(32).toString('hex');
  const server = createServer((request, response) => void answer(request, response, { token, control }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // Home ends with its work, even if somebody still watches.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const file = join(directory, FILE);
  replaceFile(file, JSON.stringify({ pid: process.pid, port, token } satisfies DoorAddress), PRIVATE);
  return {
    port,
    async close() {
      rmSync(file, { force: true });
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

interface Inside {
  readonly token: string;
  readonly control: HomeControl;
}

async function answer(request: IncomingMessage, response: ServerResponse, inside: Inside): Promise<void> {
  const say = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  if (!sameToken(request.headers.authorization ?? '', `Bearer ${inside.token}`)) return say(401, { error: 'token' });
  try {
    if (request.method === 'GET' && request.url === '/state') return say(200, inside.control.state());
    if (request.method !== 'POST' || request.url !== '/order') return say(404, { error: 'unknown request' });
    const { readOrder } = await import('./orders.ts');
    return say(200, await inside.control.obey(readOrder(JSON.parse(await bodyOf(request)))));
  } catch (error) {
    if (error instanceof SkeinError)
      return say(error.code === 'bad-option' ? 400 : 409, { code: error.code, error: error.message, hint: error.hint });
    return say(error instanceof SyntaxError ? 400 : 500, { code: 'internal', error: String(error) });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BODY) throw new SkeinError('bad-option', 'That order is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Compares in a time that does not reveal how much was right. */
export function sameToken(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The other side of the door: a running home in this directory, in any process. */
export interface HomeClient {
  readonly pid: number;
  state(): Promise<HomeState>;
  order(order: SteerOrder): Promise<Obeyed>;
}

/** Undefined = there is no home.json. If there is, the home may still be dead: then asking it throws `not-found`. */
export function findHome(directory: string): HomeClient | undefined {
  try {
    return homeToOrder(directory);
  } catch {
    return undefined; // it is not this user's to ask
  }
}

/** The same for orders. Throws where one is somebody else's: it runs, and does not obey this user. */
export function homeToOrder(directory: string): HomeClient | undefined {
  let address: DoorAddress;
  try {
    address = JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as DoorAddress;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error;
    return undefined; // nobody is home, or it is just leaving
  }
  return {
    pid: address.pid,
    state: () => ask(address, '/state') as Promise<HomeState>,
    order: order => ask(address, '/order', order) as Promise<Obeyed>,
  };
}

/** A home that runs here and answers. */
export async function runningHome(directory: string): Promise<{ client: HomeClient; state: HomeState } | undefined> {
  const client = findHome(directory);
  try {
    return client && { client, state: await client.state() };
  } catch (error) {
    // A home.json that a killed home left behind is no home.
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

async function ask({ port, token }: DoorAddress, path: string, body?: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch (error) {
    throw nobody(error);
  }
  // A crash leaves home.json behind, and its port may be someone else's by now.
  if (response.status === 401 || response.status === 404) throw nobody(undefined);
  const answered = (await response.json()) as { code?: ErrorCode; error?: string; hint?: string };
  if (response.ok) return answered;
  throw new SkeinError(
    answered.code ?? 'internal',
    answered.error ?? 'The running Skein cannot do that.',
    answered.hint,
  );
}

function nobody(cause: unknown): SkeinError {
  return new SkeinError(
    'not-found',
    'No Skein is running in this directory.',
    'Start one with "skein crawl" or "skein watch".',
    { cause },
  );
}
