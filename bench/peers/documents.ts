/**
 * The pages that all contenders crawl: Debian's Java and PostgreSQL documentation, about 11,300 pages, 27 kB mean.
 * As one server they are served as they are. As several, the trees are split by folder, and each link that leaves its
 * part is rewritten to the absolute URL on the server that owns it; that copy is made once and kept in the cache.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

export const PACKAGES = ['openjdk-17-doc', 'postgresql-doc-15'] as const;

const TREES = {
  jdk: '/usr/share/doc/openjdk-17-jre-headless',
  postgresql: '/usr/share/doc/postgresql-doc-15/html',
} as const;

const DOORS = { jdk: '/jdk/api/index.html', postgresql: '/postgresql/index.html' } as const;

export interface Documents {
  readonly name: 'one' | 'several' | 'small' | 'report' | 'hooks';
  /** One for each server: address, and the folder it serves. */
  readonly servers: readonly { readonly address: string; readonly root: string }[];
}

export function documentsAvailable(): boolean {
  return Object.values(TREES).every(tree => existsSync(tree));
}

/** Both trees below one root; `small` has only the PostgreSQL tree, for quick runs. */
export function oneServer(cache: string, small: boolean): Documents {
  const root = join(cache, 'web', small ? 'small' : 'one');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const names = small ? (['postgresql'] as const) : (['jdk', 'postgresql'] as const);
  for (const name of names) symlinkSync(TREES[name], join(root, name));
  writeFileSync(join(root, 'index.html'), frontPage(names.map(name => DOORS[name])));
  return { name: small ? 'small' : 'one', servers: [{ address: '127.0.0.1', root }] };
}

const SERVERS = 8;

/** Which of the servers owns a path; chosen so that none has more than a third of the pages. */
function ownerOf(path: string): number {
  if (path.startsWith('/postgresql/')) return path.charCodeAt(12) < 0x6d ? 0 : 1;
  if (path.startsWith('/jdk/api/java.base/')) return 2;
  if (path.startsWith('/jdk/api/java.desktop/')) return path.includes('/swing/') ? 3 : 4;
  if (path.startsWith('/jdk/api/java.')) return 5;
  if (path.startsWith('/jdk/api/jdk.')) return 6;
  return 7;
}

const addressOf = (server: number): string => `127.0.1.${server + 1}`;

export function severalServers(cache: string, port: number): Documents {
  const base = join(cache, 'web', `several-${port}`);
  const servers = Array.from({ length: SERVERS }, (_, server) => ({
    address: addressOf(server),
    root: join(base, String(server)),
  }));
  const stamp = join(base, 'complete');
  if (!existsSync(stamp)) {
    rmSync(base, { recursive: true, force: true });
    for (const [name, tree] of Object.entries(TREES)) split(tree, `/${name}`, servers, port);
    for (const { root } of servers) {
      mkdirSync(root, { recursive: true });
      writeFileSync(join(root, 'index.html'), frontPage(Object.values(DOORS).map(path => absolute(path, port))));
    }
    writeFileSync(stamp, '');
  }
  return { name: 'several', servers };
}

const absolute = (path: string, port: number): string => `http://${addressOf(ownerOf(path))}:${port}${path}`;

function split(tree: string, prefix: string, servers: Documents['servers'], port: number): void {
  for (const file of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() && !file.isSymbolicLink()) continue;
    const source = join(file.parentPath, file.name);
    const path = posix.join(prefix, source.slice(tree.length));
    const owner = ownerOf(path);
    const target = join(servers[owner]!.root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (!file.name.endsWith('.html')) {
      if (!existsSync(target)) symlinkSync(source, target);
      continue;
    }
    const text = readFileSync(source, 'latin1');
    writeFileSync(target, rewritten(text, path, owner, port), 'latin1');
  }
}

function rewritten(text: string, path: string, owner: number, port: number): string {
  const folder = dirname(path);
  // No colon: what has a scheme stays as it is. No leading #: that is the same page.
  return text.replace(/(href|src)="([^"#:][^":]*)"/g, (whole, attribute: string, link: string) => {
    const cut = link.search(/[?#]/);
    const target = posix.join(folder, cut < 0 ? link : link.slice(0, cut));
    if (ownerOf(target) === owner) return whole;
    return `${attribute}="${absolute(target, port)}${cut < 0 ? '' : link.slice(cut)}"`;
  });
}

function frontPage(links: readonly string[]): string {
  const items = links.map(link => `<li><a href="${link}">${link}</a>`);
  return `<!DOCTYPE html><title>Bench</title><ul>${items.join('\n')}</ul>\n`;
}
