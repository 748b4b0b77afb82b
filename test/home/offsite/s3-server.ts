/** A real S3 on loopback: OpenStack Swift with its s3api, by scripts/s3-server.py. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..', '..', '..');
const PYTHON = '/usr/bin/python3';

export const noSwift = !hasSwift() && 'OpenStack Swift is not installed (scripts/install-debian.sh python3-swift)';

function hasSwift(): boolean {
  if (!existsSync(PYTHON)) return false;
  try {
    execFileSync(PYTHON, ['-c', 'import eventlet, swift.common.middleware.s3api'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface S3Server extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  makeBucket(name: string): Promise<void>;
  /** Bytes that a bucket takes from now on; 0 = as many as come. */
  limit(bucket: string, bytes: number): Promise<void>;
  /** Changes a stored object behind everybody's back. */
  overwrite(bucket: string, name: string, bytes: Uint8Array): Promise<void>;
  /** Names in a bucket. */
  names(bucket: string): Promise<string[]>;
}

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-s3-'));
  const child = spawn(PYTHON, [join(root, 'scripts', 's3-server.py'), directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [unknown];
  if (typeof line !== 'string') throw new Error('Swift ended before it listened');
  const { endpoint, key, secret, auth } = JSON.parse(line) as Record<'endpoint' | 'key' | 'secret' | 'auth', string>;
  const greeting = await fetch(auth, { headers: { 'x-auth-user': key, 'x-auth-key': secret } });
  const token = greeting.headers.get('x-auth-token')!;
  const base = greeting.headers.get('x-storage-url')!;
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array) => {
    const answer = await fetch(`${base}/${path}`, {
      ...{ method, headers: { ...headers, 'x-auth-token': token } },
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
    return answer.text();
  };
  return {
    environment: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret },
    makeBucket: async name => void (await ask('PUT', name)),
    limit: async (name, bytes) =>
      void (await ask('POST', name, { 'x-container-meta-quota-bytes': bytes === 0 ? '' : String(bytes) })),
    overwrite: async (bucket, name, bytes) => void (await ask('PUT', `${bucket}/${name}`, {}, bytes)),
    names: async bucket => (await ask('GET', bucket)).split('\n').filter(name => name !== ''),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
