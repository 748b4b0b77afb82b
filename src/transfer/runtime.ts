/** Which Node runs Skein: the one of this system, or the one that npm installed beside it. */
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { nodeDigests } from './node-digests.ts';

interface Runtime {
  /** `26.10.0`. */
  readonly version: string;
  readonly path: string;
  /** Package and version where it came with Skein; empty = it is this system's. */
  readonly bundled: string;
}

export function runtimeOf(path = process.execPath, version = process.versions.node): Runtime {
  const real = realpathSync(path);
  const folder = dirname(dirname(real));
  if (!/^node-(?:linux|(?:bin-)?darwin|win)-/.test(basename(folder))) return { version, path: real, bundled: '' };
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    return { version, path: real, bundled: `${manifest.name}@${manifest.version}` };
  } catch {
    return { version, path: real, bundled: '' }; // a directory that only looks like the package
  }
}

/** For people: `Node 26.10.0, which came with Skein`. */
export function runtimeWords({ version, path, bundled }: Runtime): string {
  return `Node ${version}, ${bundled === '' ? `this system's (${path})` : `which came with Skein (${bundled})`}`;
}

/**
 * Before a Node that came with Skein is handed to another machine: it must be the one that was published, to the byte.
 * The system's own is the user's, who runs it here already.
 */
export async function checkRuntime({ path, bundled }: Runtime, digests = nodeDigests): Promise<void> {
  if (bundled === '' || digests[bundled] === (await digestOf(path))) return;
  throw new SkeinError(
    'damaged',
    `${path} is not the Node that ${bundled} was published with, so it is not sent to another machine.`,
    'Install Skein again with "npm ci", or install Node on the other machine.',
  );
}

/** SHA-256 that this Node has wherever it was sent: the one of the lockfile, or that of the user's own. */
export async function publishedDigest({ path, bundled }: Runtime): Promise<string> {
  return nodeDigests[bundled] ?? digestOf(path);
}

async function digestOf(path: string): Promise<string> {
  const { createHash } = await import('node:crypto'); // most commands do without it
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest('hex');
}
