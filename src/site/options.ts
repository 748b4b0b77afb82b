/** What the owner of a site may say, checked in one place; whatever is wrong is one sentence. */
import { statSync } from 'node:fs';
import { SkeinError } from '../base/errors.ts';
import { normalise, originOf, withScheme } from '../base/url.ts';
import type { TellPages } from './sources/told.ts';

export interface SiteOptions {
  /** URL under which the public reaches the site. */
  readonly public: string;
  /** Folder of files that a web server shows there. */
  readonly directory?: string | undefined;
  /** `/about` instead of `/about.html`. */
  readonly cleanUrls?: boolean | undefined;
  /** Web server on this machine that makes the pages: `http://127.0.0.1:8080`. */
  readonly upstream?: string | undefined;
  /** Pages that the program tells of itself. */
  readonly pages?: TellPages | undefined;
  /** File that describes records and media. */
  readonly records?: string | undefined;
  /** Where the journal is kept; `skein-site` in the working directory unless said otherwise. */
  readonly data?: string | undefined;
  /** What may be told: `/docs/**`, `!/docs/old/**`; everything that robots.txt lets Skein read unless said otherwise. */
  readonly allow?: readonly string[] | undefined;
  /** Readers of the own face need this token. */
  readonly token?: string | undefined;
  /** Readers of the own face need a client certificate; the listener checks it. */
  readonly certificate?: boolean | undefined;
  /** `own`: a small hub of this site; else URLs of hubs that are told of changes. */
  readonly hubs?: readonly string[] | undefined;
  /** IndexNow endpoints that are told of changes. */
  readonly indexNow?: readonly string[] | undefined;
  /** Home may tell what people searched; the site then suggests it. */
  readonly terms?: boolean | undefined;
  /** Where home's `skein serve` answers: the site's own search box asks it through the site. */
  readonly search?: string | undefined;
  /** Requests a minute that one reader may make; 120 unless said otherwise. */
  readonly requestsAMinute?: number | undefined;
  /** Seconds between two looks at everything: 60 for files, 600 for a web server unless said otherwise. */
  readonly every?: number | undefined;
  /** Seconds that a page must be missing before that is told; 5 unless said otherwise. */
  readonly goneAfter?: number | undefined;
  /** Changes that the journal keeps; 50,000 unless said otherwise. */
  readonly keepChanges?: number | undefined;
  /** Bytes of older versions that are kept; 1 GB unless said otherwise. */
  readonly keepBytes?: number | undefined;
  /** Hubs and subscribers may be at private addresses. */
  readonly allowPrivate?: boolean | undefined;
  /** Told what goes on; for people. */
  readonly say?: ((text: string) => void) | undefined;
}

/** Node's own features that this needs, by the version that brought the last of them. */
const OLDEST_NODE = 24;

/** The public URL in normal form, ending with a slash. */
export function publicUrl(written: string): string {
  const url = normalise(withScheme(written));
  if (url === undefined || url.includes('?')) {
    throw new SkeinError('bad-option', `"${written}" is not a public URL.`, 'Write it as https://example.org/.');
  }
  return url.endsWith('/') ? url : `${url}/`;
}

export function checkOptions(options: SiteOptions): void {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new SkeinError('bad-option', `skein/site needs Node ${OLDEST_NODE} or newer, this is ${process.version}.`);
  }
  const { directory, upstream, pages, records } = options;
  if (directory === undefined && upstream === undefined && pages === undefined && records === undefined) {
    throw new SkeinError(
      'bad-option',
      'Where the pages are is missing.',
      'Give a folder, --upstream http://127.0.0.1:8080, or --records with a file that describes them.',
    );
  }
  if (directory !== undefined) checkFolder(directory);
  if (upstream !== undefined) checkUpstream(upstream);
  for (const url of [...(options.hubs ?? []).filter(each => each !== 'own'), ...(options.indexNow ?? [])])
    checkUrl(url);
  if (options.search !== undefined && normalise(options.search) === undefined) {
    throw new SkeinError(
      'bad-option',
      `"${options.search}" is not the URL of a search.`,
      'Write it as https://search.example.org/.',
    );
  }
  const { token, requestsAMinute = 1, every = 1 } = options;
  if (token !== undefined && !/^[\x21-\x7e]{16,500}$/.test(token)) {
    throw new SkeinError('bad-option', 'A token is 16 to 500 characters without blanks.');
  }
  if (!(requestsAMinute >= 1) || !(every >= 1)) {
    throw new SkeinError('bad-option', 'Requests a minute and seconds between scans must be at least 1.');
  }
}

function checkFolder(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  throw new SkeinError('not-found', `${directory} is not a folder.`, 'Give the folder that the web server serves.');
}

function checkUpstream(upstream: string): void {
  const url = normalise(withScheme(upstream));
  if (url !== undefined && originOf(url) === url.replace(/\/$/, '')) return;
  throw new SkeinError('bad-option', `"${upstream}" is not a web server.`, 'Write it as http://127.0.0.1:8080.');
}

function checkUrl(url: string): void {
  if (normalise(url) !== undefined) return;
  throw new SkeinError('bad-option', `"${url}" is not a URL that can be notified.`, 'Write it with https://.');
}
