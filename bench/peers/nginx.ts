/** nginx with one worker on loopback, with its own configuration and a log that says what each contender fetched. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Documents } from './documents.ts';

export interface Served {
  /** URLs answered with 200 and HTML since the last call, unique; and the number of all requests. */
  take(): Promise<{ pages: Set<string>; requests: number; bytes: number }>;
  readonly seeds: readonly string[];
  close(): Promise<void>;
}

export async function serve(documents: Documents, port: number, cache: string): Promise<Served> {
  const work = join(cache, 'nginx', documents.name);
  mkdirSync(work, { recursive: true });
  const log = join(work, 'access.tsv');
  writeFileSync(log, '');
  const configuration = join(work, 'nginx.conf');
  writeFileSync(configuration, configurationOf(documents, port, work));
  const nginx = spawn('nginx', ['-c', configuration, '-e', join(work, 'error.log')], { stdio: 'inherit' });
  await listening(nginx, documents.servers[0]!.address, port);
  let offset = 0;
  return {
    seeds: documents.servers.map(({ address }) => `http://${address}:${port}/`),
    take: async () => {
      // The log is flushed twice a second.
      await new Promise(resolve => setTimeout(resolve, 1200));
      const text = tail(log, offset);
      offset += text.length;
      return summary(text);
    },
    close: () =>
      new Promise(resolve => {
        nginx.once('exit', () => resolve());
        nginx.kill('SIGTERM');
      }),
  };
}

/** The log names the address that answered, not the Host header: wget2 leaves the port out of that. */
function configurationOf(documents: Documents, port: number, work: string): string {
  const servers = documents.servers.map(({ address, root }) => `server { listen ${address}:${port}; root ${root}; }`);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${work}/${name};`);
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${work}/nginx.pid;
events { worker_connections 1024; }
http {
  ${places.join(' ')}
  include /etc/nginx/mime.types;
  sendfile on;
  tcp_nopush on;
  log_not_found off;
  keepalive_requests 1000000;
  log_format line '$status\\t$sent_http_content_type\\t$bytes_sent\\thttp://$server_addr:$server_port$request_uri';
  access_log ${work}/access.tsv line buffer=64k flush=500ms;
  ${servers.join('\n  ')}
}
`;
}

async function listening(nginx: ChildProcess, address: string, port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (nginx.exitCode !== null) throw new Error(`nginx ended with code ${nginx.exitCode}`);
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, address, () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`nginx does not listen on ${address}:${port}`);
}

function tail(file: string, offset: number): string {
  const handle = openSync(file, 'r');
  const bytes = Buffer.alloc(fstatSync(handle).size - offset);
  readSync(handle, bytes, 0, bytes.length, offset);
  closeSync(handle);
  return bytes.toString('latin1');
}

function summary(text: string): { pages: Set<string>; requests: number; bytes: number } {
  const pages = new Set<string>();
  let [requests, bytes] = [0, 0];
  for (const line of text.split('\n')) {
    const [status, type, sent, url] = line.split('\t');
    if (url === undefined) continue;
    requests++;
    bytes += Number(sent);
    if (status === '200' && type?.startsWith('text/html')) pages.add(new URL(url).href);
  }
  return { pages, requests, bytes };
}
