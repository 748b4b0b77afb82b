/** Stored copies as documents for a sandboxed frame: HTML made safe, text as text, small images as images. */
import { mediaType, type Stored } from '../archive/read.ts';
import { SkeinError } from '../base/errors.ts';
import { normalise } from '../base/url.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { FLAG_NOARCHIVE } from '../ledger/pages/known-row.ts';
import { marked } from './marked-copy.ts';
import type { Reader } from './reader.ts';
import { escaped, type PageAssets, safeDocument, safeHtml } from './safe-copy.ts';

/** Bytes that are looked at. */
const MOST_TEXT = 8_000_000;
const MOST_IMAGE = 4_000_000;
/** Bytes of one image or style sheet that a page is shown with, and of all of them. */
const MOST_ASSET = 500_000;
const MOST_ASSETS = 6_000_000;
/** Images, and style sheets, that are looked for. */
const MOST_FILES = 200;
const SHOWN_IMAGE = /^image\/(png|jpeg|gif|webp|avif)$/;

/** No scripts, no origin, no forms, no requests: even if something slipped through, it could do nothing. */
export const COPY_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** The same for two versions side by side, which the workbench's own page scrolls together: nothing in them can act. */
export const COMPARED_POLICY = COPY_POLICY.replace('sandbox', 'sandbox allow-same-origin');

/** Another version of the page, named by its visit: what came since that one is marked, or what went until it. */
interface OtherVersion {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export async function copyDocument(
  reader: Reader,
  visitId: number,
  { since, until }: OtherVersion = {},
): Promise<string> {
  const { visit, part } = reader.visit(visitId);
  const flags = part.ledger.pages.known(visit.page)?.flags ?? 0;
  if (flags & FLAG_NOARCHIVE) throw new SkeinError('refused', 'This page asks archives not to show it (noarchive).');
  const stored = await part.copies.of(visit);
  if (!stored) throw new SkeinError('not-found', 'That visit stored no copy.');
  const other = since ?? until;
  if (other === undefined) return safeDocument(bodyOf(stored, await assetsOf(reader, [stored])));
  const against = reader.visit(other);
  const same = against.part === part && against.visit.page === visit.page;
  const version = same ? await part.copies.of(against.visit) : undefined;
  if (!version) throw new SkeinError('not-found', 'One of the two versions is not stored.');
  const assets = await assetsOf(reader, [stored, version]);
  return safeDocument(marked(bodyOf(stored, assets), bodyOf(version, assets), since === undefined ? 'went' : 'came'));
}

/** What the collection has of the images and style sheets of these versions, as they are now; bounded for all of them. */
async function assetsOf(reader: Reader, versions: readonly Stored[]): Promise<PageAssets> {
  const wanted = { image: new Set<string>(), sheet: new Set<string>() };
  const noted = (kind: keyof typeof wanted) => (address: string) => {
    if (wanted[kind].size < MOST_FILES) wanted[kind].add(address);
    return undefined;
  };
  for (const version of versions) bodyOf(version, { image: noted('image'), sheet: noted('sheet') });
  const base = versions[0]!.url;
  const images = new Map<string, string>();
  const sheets = new Map<string, string>();
  let left = MOST_ASSETS;
  const copyOf = async (address: string, type: RegExp): Promise<Stored | undefined> => {
    const url = normalise(address, base);
    const found = url === undefined ? undefined : reader.lookUp([url]);
    if (!found?.known || found.known.flags & FLAG_NOARCHIVE) return undefined;
    const copy = await found.part.copies.newest(found.known);
    if (!copy || copy.body.length > Math.min(MOST_ASSET, left) || !type.test(mediaType(copy.headers))) return undefined;
    left -= copy.body.length;
    return copy;
  };
  for (const address of wanted.sheet) {
    const copy = await copyOf(address, /^text\/css$/);
    if (copy) sheets.set(address, textOf(copy, MOST_ASSET));
  }
  for (const address of wanted.image) {
    const copy = await copyOf(address, SHOWN_IMAGE);
    if (copy) images.set(address, dataUrl(copy, MOST_ASSET));
  }
  return { image: address => images.get(address), sheet: address => sheets.get(address) };
}

function dataUrl(stored: Stored, most: number): string {
  const bytes = Buffer.from(stored.decoded(most).bytes);
  return `data:${mediaType(stored.headers)};base64,${bytes.toString('base64')}`;
}

function bodyOf(stored: Stored, assets: PageAssets): string {
  const type = mediaType(stored.headers);
  if (SHOWN_IMAGE.test(type) && stored.body.length < MOST_IMAGE) {
    return `<img alt="" src="${dataUrl(stored, MOST_IMAGE)}">`;
  }
  if (type === 'text/html' || type === 'application/xhtml+xml' || type === '')
    return safeHtml(textOf(stored, MOST_TEXT), assets);
  if (/^text\/|[/+](json|xml)$|javascript/.test(type)) return `<pre>${escaped(textOf(stored, MOST_TEXT))}</pre>`;
  return `<p>${stored.body.length.toLocaleString('en')} bytes of ${escaped(type)}: cannot be shown here.</p>`;
}
