// Writes src/transfer/node-digests.ts: the SHA-256 of each Node binary that may come with Skein, taken from packages that
// are the ones of package-lock.json. Run it after changing their version: node scripts/node-digests.js
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
const names = Object.keys(lock[''].optionalDependencies).filter(name => name.startsWith('node-'));
const lines = names.sort().map(name => {
  const { version, integrity } = lock[`node_modules/${name}`];
  const folder = mkdtempSync(join(tmpdir(), 'skein-node-'));
  try {
    execFileSync('npm', ['pack', '--silent', `${name}@${version}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const file = readdirSync(folder).find(each => each.endsWith('.tgz'));
    const found = `sha512-${createHash('sha512')
      .update(readFileSync(join(folder, file)))
      .digest('base64')}`;
    if (found !== integrity) throw new Error(`${name} ${version} is not the package of package-lock.json`);
    const binary = join('package', 'bin', name.startsWith('node-win-') ? 'node.exe' : 'node');
    execFileSync('tar', ['-xzf', file, binary], { cwd: folder });
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, binary)))
      .digest('hex');
    return `  '${name}@${version}': '${digest}',`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
const head =
  '/** Made by scripts/node-digests.js: SHA-256 of the Node binaries that come with Skein, by package and version. */';
const table = `export const nodeDigests: Readonly<Record<string, string>> = {\n${lines.join('\n')}\n};\n`;
writeFileSync(join('src', 'transfer', 'node-digests.ts'), `${head}\n${table}`);
