/** An nginx of the test's own, from Debian, that shows a folder and passes the faces of its site on; undefined where there is none. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { root } from '../journeys/skein.ts';

const PROGRAM = '/usr/sbin/nginx';

function isThere(): boolean {
  if (!existsSync(PROGRAM) && process.getuid?.() === 0) {
    try {
      execFileSync('bash', [join(root, 'scripts', 'install-debian.sh'), 'nginx-light'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    } catch {
      return false; // the script has said why
    }
  }
  return existsSync(PROGRAM);
}

export async function openNginx(context: TestContext, folder: string, site: number): Promise<string | undefined> {
  if (!isThere()) return undefined;
  const place = mkdtempSync(join(tmpdir(), 'skein-nginx-'));
  mkdirSync(join(place, 'temporary'));
  const port = await freePort();
  const pass = `proxy_pass http://127.0.0.1:${site}; proxy_set_header X-Forwarded-For $remote_addr; proxy_read_timeout 150s;`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${place}/temporary/${name};`,
  );
  writeFileSync(
    join(place, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${place}/pid; error_log ${place}/error.log;
     ${process.getuid?.() === 0 ? 'user root;' : ''}
     events { worker_connections 256; }
     http { access_log ${place}/access.log; ${temporary.join(' ')}
       types { text/html html; }
       server { listen 127.0.0.1:${port}; root ${folder};
         location /.well-known/skein { ${pass} }
         location = /.well-known/resourcesync { ${pass} } } }`,
  );
  const server = spawn(PROGRAM, ['-p', place, '-c', join(place, 'nginx.conf')], { stdio: 'ignore' });
  context.after(async () => {
    const ended = new Promise(resolve => server.once('exit', resolve));
    if (server.exitCode === null && server.kill('SIGTERM')) await ended;
    rmSync(place, { recursive: true, force: true });
  });
  const at = `http://127.0.0.1:${port}`;
  while (server.exitCode === null) {
    try {
      await (await fetch(`${at}/`)).arrayBuffer();
      return at;
    } catch {
      await new Promise(resolve => setTimeout(resolve, 20)); // it is starting
    }
  }
  throw new Error('nginx ended');
}
