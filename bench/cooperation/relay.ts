/**
 * What stands before home's door, as nginx does in the guide: hubs and submissions come in here, and what they send is counted.
 * While no home runs they are kept waiting.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Meter, type Traffic } from './traffic.ts';

export interface Relay {
  readonly address: string;
  traffic(): Traffic;
  passed(): number;
  close(): Promise<void>;
}

/** Milliseconds between two tries, and how many. */
const AGAIN = 200;
const TRIES = 80;

/** `port`: of home's door. */
export async function openRelay(port: number): Promise<Relay> {
  let count = 0;
  const server = createServer(async (asked, response) => {
    const chunks: Buffer[] = [];
    meter.note(asked, response, 'faces', () => senderOf(asked, chunks));
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    // Sites are machines of their own.
    const localAddress = `127.0.0.${2 + (count++ % 200)}`;
    for (let left = TRIES; left > 0; left--) {
      if (await passed(asked, Buffer.concat(chunks), response, { port, localAddress })) return;
      await new Promise(resolve => setTimeout(resolve, AGAIN));
    }
    response.writeHead(503).end();
  });
  const meter = new Meter(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traffic: () => meter.take(),
    passed: () => meter.passed(),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** Origin of the site: a hub names itself, a submission its key. */
function senderOf({ headers }: IncomingMessage, chunks: readonly Buffer[]): string {
  const named = /<([^>]+)>;\s*rel="hub"/.exec(String(headers['link'] ?? ''))?.[1];
  const location = /"keyLocation":"([^"]+)"/.exec(Buffer.concat(chunks).toString())?.[1];
  return URL.parse(named ?? location ?? '')?.origin ?? '';
}

/** False: no home is there yet, or it does not listen to sites yet. */
function passed(
  { method = 'GET', url = '/', headers: given }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  to: { readonly port: number; readonly localAddress: string },
): Promise<boolean> {
  const { connection: _, ...headers } = given;
  return new Promise(resolve => {
    const options = { ...to, host: '127.0.0.1', method, path: url, headers, rejectUnauthorized: false, agent: false };
    const sent = request(options, answer => {
      if (answer.statusCode === 404) {
        answer.resume();
        return resolve(false);
      }
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
      response.once('close', () => resolve(true));
    });
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}
