/**
 * What ssh runs at the other end: a shell line that finds a Node new enough, and a few lines of JavaScript that take the
 * code from standard input (or from a directory kept there), and start it. Both must get through any login shell, so the
 * shell line holds no single quotes and the JavaScript travels as base64.
 */

/** The first Node that has everything the crawler uses (zstd in node:zlib). */
export const OLDEST_NODE = '22.15';
/** Begins the line on standard output after which frames follow; login scripts may have printed others before. */
export const READY = 'SKEIN-READY';
export const NO_NODE = 'SKEIN-NO-NODE';
const TOO_OLD = 94;
/** Milliseconds after which nobody comes back for undelivered parcels: twice as long as their outpost waits. */
const SPOOL_WAITS = 1_200_000;

export interface Loading {
  readonly digest: string;
  /** Bytes of the archive. */
  readonly length: number;
  /** Directory that is kept there, empty = a temporary one. */
  readonly keep: string;
  readonly spool: string;
  readonly software: string;
  /** Machines to go on to from there, as machine-tree.ts has them. */
  readonly below: readonly { readonly url: string }[];
  /** Name of a runtime in the far cache that may be used, and the SHA-256 that it must have. */
  readonly runtime: string;
  readonly runtimeDigest: string;
}

const code = `
const fs = require('fs'), os = require('os'), path = require('path'), url = require('url'), zlib = require('zlib');
const [major, minor] = process.versions.node.split('.').map(Number);
const [oldMajor, oldMinor] = '${OLDEST_NODE}'.split('.').map(Number);
if (major < oldMajor || (major === oldMajor && minor < oldMinor)) process.exit(${TOO_OLD});
const { digest, length, keep, spool, software, below } = JSON.parse(Buffer.from(process.argv[1], 'base64'));
process.umask(0o077);
const root = keep ? path.resolve(os.homedir(), keep.replace(/^~\\/*/, '')) : fs.mkdtempSync(path.join(os.tmpdir(), 'skein-'));
if (!keep) {
  fs.writeFileSync(path.join(root, 'pid'), String(process.pid));
  sweep(os.tmpdir());
}
const place = path.join(root, 'code-' + digest);
const cached = fs.existsSync(path.join(place, 'package.json'));
const need = cached ? 0 : length;
fs.writeSync(1, '\\n${READY} ' + (cached ? 'cached' : 'send') + '\\n');
const held = [];
let size = 0;
function take(piece) {
  held.push(piece);
  size += piece.length;
  if (size >= need) begin();
}
// What earlier visits left behind that ended without a goodbye: code at once, parcels after the time that they wait for.
function sweep(directory) {
  for (const name of fs.readdirSync(directory)) {
    const spool = name.startsWith('skein-spool-');
    if (!spool && !/^skein-[A-Za-z0-9]{6}$/.test(name)) continue;
    const left = path.join(directory, name);
    try {
      const found = fs.lstatSync(left);
      if (left === root || !found.isDirectory() || found.uid !== process.getuid()) continue;
      const mark = path.join(left, spool ? 'owner' : 'pid');
      const pid = Number(fs.readFileSync(mark, 'utf8').split(' ')[0]);
      if (!(pid > 0) || lives(pid) || (spool && Date.now() - fs.statSync(mark).mtimeMs < ${SPOOL_WAITS})) continue;
      fs.rmSync(left, { recursive: true, force: true });
    } catch {} // nobody's mark, or just being removed
  }
}
function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
function unpack(bytes) {
  const files = JSON.parse(zlib.brotliDecompressSync(bytes));
  const { 'package.json': last, ...others } = files;
  for (const [name, text] of Object.entries(others)) {
    const file = path.join(place, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, name.endsWith('.wasm') ? 'base64' : 'utf8');
  }
  fs.writeFileSync(path.join(place, 'package.json'), last);
}
async function begin() {
  process.stdin.off('data', take);
  process.stdin.pause();
  const all = Buffer.concat(held);
  if (!cached) unpack(all.subarray(0, need));
  const main = await import(url.pathToFileURL(path.join(place, 'outpost', 'stdio.js')).href);
  await main.start({ root, kept: keep !== '', spool, software, below, leftover: all.subarray(need) });
}
process.stdin.on('data', take);
process.stdin.on('end', () => {
  if (size >= need) return;
  if (!keep) fs.rmSync(root, { recursive: true, force: true });
  process.exit(1);
});
if (need === 0) begin();
`;

/** Of the Node in the far cache, whatever the system has for it: it may have been changed since it was sent. */
const DIGEST = '{ sha256sum "$c" || shasum -a 256 "$c" || openssl dgst -sha256 -r "$c"; } 2>/dev/null';

/** The command for the far shell. */
export function loaderCommand(loading: Loading): string {
  const script = `eval(Buffer.from(\\"${Buffer.from(code).toString('base64')}\\",\\"base64\\").toString())`;
  const argument = Buffer.from(JSON.stringify(loading)).toString('base64');
  return (
    `exec sh -c 'f=; c="$HOME"/.cache/skein-runtime/${loading.runtime}/node; ` +
    `for n in ${candidates()} "$c"; do command -v "$n" >/dev/null 2>&1 || continue; ` +
    `if [ "$n" = "$c" ]; then [ "$(${DIGEST} | cut -c1-64)" = ${loading.runtimeDigest} ] || continue; fi; ` +
    `"$n" --no-warnings -e "${script}" -- ${argument}; r=$?; [ $r -eq ${TOO_OLD} ] || exit $r; ` +
    `f="$f $("$n" --version)"; done; echo; echo ${NO_NODE} $(uname -s) $(uname -m)$f'`
  );
}

/** Where a Node of the machine's own may be, which comes before the one that we brought. */
function candidates(): string {
  const system = [
    '/usr/local/bin',
    '/opt/node/bin',
    '/opt/homebrew/bin',
    '/snap/bin',
    '/home/linuxbrew/.linuxbrew/bin',
  ];
  const managers = [
    ...['.nvm/versions/node/*', '.local/share/fnm/node-versions/*/installation', '.local/share/mise/installs/node/*'],
    ...['.asdf/installs/nodejs/*', '.volta/tools/image/node/*', '.nodenv/versions/*', 'n', '.local'],
  ];
  const own = [...system.map(path => `${path}/node`), ...managers.map(path => `"$HOME"/${path}/bin/node`)];
  return ['node', 'nodejs', ...own].join(' ');
}

/** Takes a compressed Node from standard input into the far cache. */
export function runtimeCommand(runtime: string): string {
  const place = `"$HOME/.cache/skein-runtime/${runtime}"`;
  return (
    `exec sh -c 'umask 077; mkdir -p ${place} && gzip -dc > ${place}/node.new && chmod 700 ${place}/node.new && ` +
    `mv ${place}/node.new ${place}/node'`
  );
}
