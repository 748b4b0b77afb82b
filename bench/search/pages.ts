/**
 * Real pages to search: documentation as Debian ships it, and, where they are there, day 0 of the recorded sites in
 * ../shared/data/dev. Analysed as a crawl would hand them over, link texts, headings and importance included.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { headingsOf } from '../../src/home/copies/headings.ts';
import type { Said, SearchDocument } from '../../src/search/index.ts';

export interface Material {
  readonly documents: readonly SearchDocument[];
  readonly said: readonly Said[];
}

interface Raw {
  readonly url: string;
  readonly html: string;
}

interface Shelf {
  readonly packages: readonly string[];
  /** Host, directory, and which of its files; all that are HTML where nothing is said. */
  readonly manuals: readonly (readonly [host: string, directory: string, which?: RegExp])[];
  readonly recorded: boolean;
}

/** What is asked of one shelf says nothing of another: search was looked at with the first, and measured with the others. */
const shelves: Readonly<Record<string, Shelf>> = {
  first: {
    packages: ['postgresql-doc-15', 'cppreference-doc-en-html', 'openjdk-17-doc'],
    manuals: [
      ['postgresql.test', '/usr/share/doc/postgresql-doc-15/html'],
      ['cppreference.test', '/usr/share/cppreference/doc/html/en'],
      ['java.test', '/usr/share/doc/openjdk-17-doc/api'],
    ],
    recorded: true,
  },
  second: {
    packages: [
      ...['python3.11-doc', 'sqlite3-doc', 'git-doc', 'nodejs-doc'],
      ...['en', 'de', 'fr', 'ja'].map(language => `debian-reference-${language}`),
    ],
    manuals: [
      ['python.test', '/usr/share/doc/python3.11/html'],
      ['sqlite.test', '/usr/share/doc/sqlite3'],
      ['git.test', '/usr/share/doc/git-doc'],
      ['nodejs.test', '/usr/share/doc/nodejs/api', /^(?!all)/],
      ['reference.test', '/usr/share/debian-reference'],
    ],
    recorded: true,
  },
  third: {
    packages: ['rust-doc', 'python-django-doc', 'libgtk-3-doc', 'debian-handbook'],
    manuals: [
      ['rust.test', '/usr/share/doc/rust-doc/html', /^(std|reference|book\/[^/]*$)/],
      ['django.test', '/usr/share/doc/python-django-doc/html'],
      ['gtk.test', '/usr/share/gtk-doc/html/gtk3'],
      ['handbook.test', '/usr/share/doc/debian-handbook/html', /^(en-US|de-DE|fr-FR|es-ES|ja-JP|ru-RU|it-IT)/],
    ],
    recorded: false,
  },
  fourth: {
    packages: [
      ...['apache2-doc', 'cmake-doc', 'octave-doc', 'erlang-doc', 'qtbase5-doc-html', 'postfix-doc', 'exim4-doc-html'],
      ...['swi-prolog-doc', 'debian-policy', 'debian-faq'],
      ...['fr', 'es', 'ru', 'ja'].map(language => `aptitude-doc-${language}`),
    ],
    manuals: [
      ['httpd.test', '/usr/share/doc/apache2-doc/manual', /^(en|fr|ja|ko|tr)\//],
      ['cmake.test', '/usr/share/doc/cmake-data/html', /^(?!genindex|search)/],
      ['octave.test', '/usr/share/doc/octave/octave.html', /^(?!XREF|index-XREF|fig_)/],
      ['erlang.test', '/usr/share/doc/erlang-doc'],
      ['qt.test', '/usr/share/qt5/doc', /^qt(core|network|sql|xml)\/(?!.*(members|obsolete))/],
      ['postfix.test', '/usr/share/doc/postfix/html'],
      ['exim.test', '/usr/share/doc/exim4-doc-html/spec_html', /^(index|ch-)/],
      ['prolog.test', '/usr/share/swi-prolog/doc/Manual'],
      ['policy.test', '/usr/share/doc/debian-policy/policy.html', /^(?!genindex|search)/],
      ['faq.test', '/usr/share/doc/debian/FAQ', /\.en\.html$/],
      ['aptitude.test', '/usr/share/doc/aptitude/html'],
    ],
    recorded: false,
  },
  fifth: {
    packages: [
      ...['ghc-doc', 'libcommons-lang3-java-doc', 'python-sqlalchemy-doc', 'tomcat10-docs', 'zsh-doc', 'r-doc-html'],
      ...['lilypond-doc-html-de', 'libreoffice-help-ja', 'bind9-doc', 'developers-reference'],
      ...['de', 'fr', 'ja'].map(language => `developers-reference-${language}`),
    ],
    manuals: [
      ['haskell.test', '/usr/share/doc/ghc-doc/html/users_guide', /^(?!genindex|search)/],
      [
        'hackage.test',
        '/usr/share/doc/ghc-doc/html/libraries',
        /^(base|containers|text|bytestring|mtl|time|stm)-[^/]*\/[^/]*$/,
      ],
      ['lang3.test', '/usr/share/doc/libcommons-lang3-java/api', /^(?!.*(class-use|index-all|allclasses|src-html))/],
      ['sqlalchemy.test', '/usr/share/doc/python-sqlalchemy-doc/html', /^(?!genindex|search)/],
      ['tomcat.test', '/usr/share/tomcat10-docs/docs'],
      ['zsh.test', '/usr/share/doc/zsh-doc/html'],
      ['r.test', '/usr/share/R/doc/manual'],
      ['lilypond.test', '/usr/share/doc/lilypond/html/Documentation', /^(learning|notation|usage|web)\//],
      ['office.test', '/usr/share/libreoffice/help/ja', /text\/(scalc|swriter|shared\/guide)\//],
      ['bind.test', '/usr/share/doc/bind9-doc/arm', /^(?!genindex|search)/],
      ['devref.test', '/usr/share/developers-reference'],
    ],
    recorded: false,
  },
  sixth: {
    packages: [
      ...['libboost1.74-doc', 'libcommons-collections4-java-doc', 'junit4-doc', 'python-flask-doc', 'vim-doc'],
      ...['linux-doc-6.1', 'racket-doc', 'libreoffice-help-zh-cn', 'maint-guide-ja', 'debmake-doc', 'maxima-doc'],
    ],
    manuals: [
      [
        'boost.test',
        '/usr/share/doc/libboost1.74-doc/doc/html',
        /^(?!boost\/(units|accumulators|proto|type_erasure|numeric)|boostbook)/,
      ],
      [
        'collections.test',
        '/usr/share/doc/libcommons-collections4-java/api',
        /^(?!.*(class-use|index-all|allclasses|src-html))/,
      ],
      ['junit.test', '/usr/share/doc/junit4/api', /^(?!.*(class-use|index-all|allclasses|src-html))/],
      ['flask.test', '/usr/share/doc/python-flask-doc/html', /^(?!genindex|search)/],
      ['vim.test', '/usr/share/doc/vim/html'],
      [
        'linux.test',
        '/usr/share/doc/linux-doc-6.1/html',
        /^(admin-guide|process|core-api|mm|locking|filesystems|networking|kbuild|trace|dev-tools)\/[^/]*$|^translations\/(zh_CN|it_IT|ja_JP|ko_KR|sp_SP)\//,
      ],
      ['racket.test', '/usr/share/doc/racket', /^(reference|guide|web-server|plot|pict|foreign)\//],
      ['office.test', '/usr/share/libreoffice/help/zh-CN', /text\/(simpress|sdraw|smath|shared\/guide)\//],
      ['maint.test', '/usr/share/doc/maint-guide-ja/html'],
      ['debmake.test', '/usr/share/doc/debmake-doc/html'],
      ['maxima.test', '/usr/share/doc/maxima-doc/html', /^(?!maxima_singlepage)/],
    ],
    recorded: false,
  },
};

/** Unpacks Debian packages beside the system, which stays as it is; those that are there are left alone. */
function unpacked(root: string, packages: readonly string[]): string {
  const debs = join(root, '.cache', 'bench', 'manuals');
  const whole = join(debs, 'root');
  mkdirSync(whole, { recursive: true });
  for (const name of packages) {
    const done = join(debs, `${name}.done`);
    if (existsSync(done)) continue;
    execFileSync('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', name], {
      cwd: debs,
      stdio: 'inherit',
    });
    const deb = readdirSync(debs).find(file => file.startsWith(`${name}_`))!;
    execFileSync('dpkg-deb', ['-x', join(debs, deb), whole]);
    rmSync(join(debs, deb));
    writeFileSync(done, '');
  }
  return whole;
}

function manualPages(root: string, { packages, manuals }: Shelf): Raw[] {
  const whole = unpacked(root, packages);
  return manuals.flatMap(([host, place, which = /./]) => {
    const directory = join(whole, place);
    if (!existsSync(directory)) return [];
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.html'));
    return files
      .filter(file => which.test(file) && statSync(join(directory, file)).isFile())
      .sort()
      .map(file => ({
        url: new URL(encodeURI(file).replaceAll('?', '%3F').replaceAll('#', '%23'), `http://${host}/`).href,
        html: readFileSync(join(directory, file), 'utf8'),
      }));
  });
}

interface Entry {
  readonly s: string;
  readonly u: string;
  readonly b: string;
  readonly ct: string;
}

interface Group {
  readonly o: number;
  readonly z: number;
  readonly b: readonly (readonly [string, number])[];
}

/** The bodies of day 0 by blob id. */
function blobs(data: string, wanted: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  const packs = join(data, 'packs');
  for (const name of readdirSync(packs).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups: Group[] = JSON.parse(gunzipSync(readFileSync(join(packs, name))).toString());
    const pack = readFileSync(join(packs, name.replace('.idx.json.gz', '.pack')));
    for (const group of groups) {
      if (!group.b.some(([id]) => wanted.has(id) && !found.has(id))) continue;
      const body = brotliDecompressSync(pack.subarray(group.o, group.o + group.z));
      let at = 0;
      for (const [id, length] of group.b) {
        if (wanted.has(id)) found.set(id, body.toString('utf8', at, at + length));
        at += length;
      }
    }
  }
  return found;
}

function recordedPages(root: string): Raw[] {
  const data = join(root, '..', 'shared', 'data', 'dev');
  if (!existsSync(data)) {
    console.log('notice: the recorded sites (../shared/data/dev) are not here, their pages are left out');
    return [];
  }
  const lines = gunzipSync(readFileSync(join(data, 'manifests', 'day-000.jsonl.gz')))
    .toString()
    .split('\n');
  const entries: Entry[] = lines.filter(Boolean).map(line => JSON.parse(line));
  const pages = entries.filter(entry => entry.ct?.startsWith('text/html'));
  const bodies = blobs(data, new Set(pages.map(entry => entry.b)));
  return pages.map(({ s, u, b }) => ({ url: `https://${s}${u}`, html: bodies.get(b) ?? '' }));
}

/** All pages of a shelf, numbered from 1. */
export function realPages(root: string, name: string): Material {
  const shelf = shelves[name];
  if (!shelf) throw new Error(`no shelf ${name}: there are ${Object.keys(shelves).join(', ')}`);
  const pages = [...manualPages(root, shelf), ...(shelf.recorded ? recordedPages(root) : [])];
  const raw = [...new Map(pages.map(one => [one.url, one])).values()];
  const ids = new Map(raw.map(({ url }, index) => [url, index + 1]));
  const counts = new Map<number, number>();
  const said: Said[] = [];
  const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
  const read = raw.map(({ url, html }) => {
    const id = ids.get(url)!;
    const page = analyse({ url, headers, body: Buffer.from(html) });
    const anchors = Buffer.from(page.links.anchors).toString().split('\n');
    const targets = page.links.count === 0 ? [] : Buffer.from(page.links.urls).toString().split('\n');
    const links = targets.map((target, i) => ({ target: ids.get(target) ?? 0, text: anchors[i] ?? '' }));
    const known = links.filter(({ target }) => target > 0 && target !== id);
    for (const target of new Set(known.map(link => link.target))) counts.set(target, (counts.get(target) ?? 0) + 1);
    said.push({ source: id, links: known });
    const { title, language, mediaType, noindex } = page;
    return { page: id, url, title, language, mediaType, noindex, text: page.text(), headings: headingsOf(html) };
  });
  const importance = (id: number) => Math.log2(1 + (counts.get(id) ?? 0)) / 16;
  const rest = { anchors: '', fetched: 0, changed: 0, noarchive: false };
  return { said, documents: read.map(page => ({ ...page, ...rest, importance: importance(page.page) })) };
}
