#!/usr/bin/env node
// The door: finds a Node that is new enough, and hands over. Plain JavaScript, so that an old Node can read it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src', 'cli', 'main.ts');
const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js');

if (Number(process.versions.node.split('.')[0]) >= OLDEST) {
  await import(main);
} else {
  const node = bundledNode();
  if (!node) {
    console.error(`skein needs Node ${OLDEST} or newer, this is ${process.version}: run "npm ci" here to get one, or install it.`);
    process.exit(2);
  }
  const child = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(child.status ?? 1);
}

/** The Node binary that npm installed beside us, if this platform has one. */
function bundledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined; // the optional package is not there: the caller says what to do
  }
}
