// Links the Node that comes along into node_modules/.bin, where npm's scripts look first. npm 11 does it; npm 10, which Node 20
// brings, takes the link away again with the packages for other systems, and the scripts would run with a Node that is too old.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');
const name = `node${process.platform === 'darwin' && process.arch === 'arm64' ? '-bin' : ''}-${process.platform}-${process.arch}`;
const binary = join(name, 'bin', 'node');
const link = join(modules, '.bin', 'node');
if (process.platform !== 'win32' && existsSync(join(modules, binary)) && !existsSync(link)) {
  rmSync(link, { force: true }); // one that leads nowhere
  symlinkSync(join('..', binary), link);
}
