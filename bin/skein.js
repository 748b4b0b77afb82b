#!/usr/bin/env node
// The door: finds a Node that is new enough, and hands over. Plain JavaScript, so that an old Node can read it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST = 24;
/** Environment variable: the file descriptor that closes when the process ends that started this one. */
const PARENT = 'SKEIN_PARENT';
const root = dirname(dirname(fileURLToPath(import.meta.url)));

hideSecrets(process.argv.slice(2));
const handedOver = process.env[PARENT] !== undefined;
if (handedOver) await watchParent(Number(process.env[PARENT]));
const preferred = handedOver ? undefined : await machineNode();
if (preferred) {
  await handOver(preferred);
} else if (isNewEnough(process.versions.node)) {
  await import('./settings.js');
  await import(pathToFileURL(main()).href);
} else {
  const node = bundledNode();
  if (!node) {
    console.error(
      `skein needs Node ${OLDEST} or newer, this is ${process.version}: run "npm ci" here to get one, or install it.`,
    );
    process.exit(2);
  }
  await handOver(node);
}

/** Lives as long as the other does, and passes on what it is told, so that nobody is left behind working. */
async function handOver(node) {
  // Loaded only here: it takes an eighth of the time in which Node itself starts.
  const { spawn } = await import('node:child_process');
  // The pipe says that we live: the other ends when it closes, which the system does however we end.
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [PARENT]: '3' },
  });
  // A terminal sends Ctrl-C to both of us: we only wait. Others know nothing but our process id.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', error => {
    console.error(`skein: ${node} cannot be started: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
}

/** In a checkout the sources, or the bundle of them where they are still the same; in the package its bundle. */
function main() {
  const source = join(root, 'src', 'cli', 'main.ts');
  return existsSync(source) ? (freshBundle() ?? source) : join(root, 'dist', 'bundle', 'main.js');
}

/** What scripts/bundle.js made of this checkout, unless a file has changed since. */
function freshBundle() {
  const directory = join(root, '.cache', 'bundle');
  try {
    const inputs = JSON.parse(readFileSync(join(directory, 'inputs.json'), 'utf8'));
    const isSame = ([file, time, size]) => {
      const now = statSync(join(root, file), { throwIfNoEntry: false });
      return now?.mtimeMs === time && now.size === size;
    };
    return inputs.every(isSame) ? join(directory, 'main.js') : undefined;
  } catch {
    return undefined; // there is none
  }
}

/** Ends this process in good order when whoever started it is gone, and at once when that takes too long. */
async function watchParent(descriptor) {
  delete process.env[PARENT]; // whomever we start is not concerned
  const { Socket } = await import('node:net');
  const parent = new Socket({ fd: descriptor, readable: true, writable: false });
  parent
    .on('error', () => {})
    .on('close', () => {
      process.kill(process.pid, 'SIGTERM');
      setTimeout(() => process.exit(1), 10_000).unref();
    });
  parent.resume().unref();
}

/**
 * Every user of the machine sees the arguments of a process for as long as it runs. What is secret among them is taken off that
 * list at once, in both processes where one hands over; what a file or the environment brings was never there.
 */
function hideSecrets(words) {
  const isSecret = word => /^--(?:secret|smtp|token|webhook)(?:=|$)/.test(word) || /:\/\/[^/\s]+@/.test(word);
  const command = words.filter(word => /^[a-z-]+$/.test(word) && !word.startsWith('-')).slice(0, 2);
  if (words.some(isSecret) || command.join(' ') === 'outpost join') process.title = `skein ${command[0]}`;
}

function isNewEnough(version) {
  return Number(version.split('.')[0]) >= OLDEST;
}

/**
 * npx puts the directory first where npm has linked the Node that came with us, whatever the machine has: its own is
 * preferred where that is new enough. Whoever starts us in another way has chosen a Node.
 */
async function machineNode() {
  const { npm_command: command, PATH = '' } = process.env;
  const bundled = command === 'exec' ? bundledNode() : undefined;
  if (!bundled || realpathSync(bundled) !== realpathSync(process.execPath)) return undefined;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const places = PATH.split(delimiter).filter(each => isAbsolute(each) && !each.includes('node_modules'));
  const node = places.map(place => join(place, name)).find(each => existsSync(each));
  if (!node) return undefined;
  const { spawnSync } = await import('node:child_process');
  const { stdout } = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8', timeout: 5000 });
  return isNewEnough(stdout ?? '') ? node : undefined;
}

/** The Node binary that npm installed beside us, if this platform has one. */
function bundledNode() {
  try {
    const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
    const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`; // the plain name ends with Node 18
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined; // the optional package is not there: the caller says what to do
  }
}
