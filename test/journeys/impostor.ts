/**
 * A web server that alters every page, and what makes one process, and it alone, find this server in place of the true
 * ones: as a proxy would that sits between one outpost and the rest of the web.
 */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const LIE = 'Geese do not migrate, they buy insurance.';

export interface Impostor extends AsyncDisposable {
  /** Arguments for the Node of whoever is to be deceived. */
  readonly node: readonly string[];
}

/** `ports`: of the true servers, on loopback. `place`: a directory for the module that diverts connections. */
export async function openImpostor(ports: readonly number[], place: string): Promise<Impostor> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const module = join(place, 'diverted.mjs');
  writeFileSync(module, diversion(ports, port));
  return {
    node: ['--import', pathToFileURL(module).href],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function diversion(ports: readonly number[], port: number): string {
  return `import { Socket } from 'node:net';
const true_ = new Set(${JSON.stringify(ports)});
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (options && true_.has(Number(options.port))) options.port = ${port};
  return connect.apply(this, args);
};
`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = { 'accept-encoding': 'identity', 'user-agent': request.headers['user-agent'] ?? '' };
  const real = await fetch(`http://${request.headers.host}${request.url}`, { headers, redirect: 'manual' });
  const body = Buffer.from(await real.arrayBuffer());
  const html = real.headers.get('content-type')?.includes('html') === true;
  const shown = html ? Buffer.from(body.toString().replace(/<p\b[^>]*>/g, `$&${LIE} `)) : body;
  const kept = [...real.headers].filter(([name]) => !/^(content-length|connection|keep-alive|transfer-enc)/.test(name));
  response.writeHead(real.status, { ...Object.fromEntries(kept), 'content-length': shown.length }).end(shown);
}
