/**
 * Noise as sites have it that stand still within a day, put into the recorded pages: tokens of nodes, builds, pages and
 * sessions at every place of links, pictures and markup, mail addresses under another key. A second look at such a page never differs,
 * so that only other pages and other days can tell. Whatever the recorded page itself did stays true.
 */
import { hashOf, hashText, mix, pick } from '../random.ts';

/** A page on a day. */
interface Place {
  readonly host: string;
  readonly path: string;
  readonly day: number;
}

/** Hashes that noise is made of: of the site, of the page, and of the token that the page has on this day. */
interface Made {
  readonly site: number;
  readonly page: number;
  readonly lot: number;
}

export interface Injection {
  readonly name: string;
  readonly into: (html: string, place: Place) => string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const BASE64URL = `${LOWER}${LOWER.toUpperCase()}${DIGITS}-_`;
const ALPHABETS = [HEX, LOWER + DIGITS, LOWER + LOWER.toUpperCase() + DIGITS];

/** Which token a page has on a day. */
const lots: Readonly<Record<string, (seed: number, place: Place) => number>> = {
  'of two nodes': (seed, { path, day }) => hashOf(seed, 1, hashOf(seed, hashText(path), day) % 2),
  'of three nodes': (seed, { path, day }) => hashOf(seed, 2, hashOf(seed, hashText(path), day) % 3),
  'of a node that answers one time in ten': (seed, { path, day }) =>
    hashOf(seed, 3, hashOf(seed, hashText(path), day) % 10 === 0 ? 1 : 0),
  'of each build': (seed, { day }) => hashOf(seed, 4, Math.floor(day / 3)),
  'of each page and build': (seed, { path, day }) => hashOf(seed, hashText(path), Math.floor(day / 3)),
  'of each page and day': (seed, { path, day }) => hashOf(seed, hashText(path), day),
};

function token(length: number, alphabet: string, hash: number): string {
  return Array.from({ length }, (_, at) => alphabet[mix(hash, 300 + at) % alphabet.length]).join('');
}

function tokenOf({ site, lot }: Made): string {
  return token(5 + (mix(site, 11) % 9), pick(ALPHABETS, mix(site, 12)), lot);
}

const atEnd = (html: string, more: string): string => html.replace(/<\/body>|$/i, `${more}$&`);
const nameOf = (page: number): string => `story-${page % 9973}`;

/** How it stands in the page. */
const places: Readonly<Record<string, (html: string, made: Made) => string>> = {
  'folder of every picture': (html, made) =>
    html.replace(/(<img\b[^>]*?\bsrc=")(?!data:)(?:https?:\/\/[^/"]*)?\/?/gi, `$1/static/${tokenOf(made)}/`),
  'name of every picture': (html, made) =>
    html.replace(
      /(<img\b[^>]*?\bsrc="[^"?]*?)(\.[a-z]{3,4}["?])/gi,
      `$1${pick(['-', '.', '_'], made.site)}${tokenOf(made)}$2`,
    ),
  'folder of a picture': (html, made) => atEnd(html, `<img src="/i/${tokenOf(made)}/logo.png" alt="Logo">`),
  'folder of a picture of its own': (html, made) =>
    atEnd(html, `<img src="/i/${tokenOf(made)}/${nameOf(made.page)}.png" alt="Chart">`),
  'name of a picture of its own': (html, made) =>
    atEnd(html, `<img src="/i/${nameOf(made.page)}.${tokenOf(made)}.png" alt="Chart">`),
  srcset: (html, made) => {
    const at = `/_img/${tokenOf(made)}/${nameOf(made.page)}`;
    return atEnd(html, `<img src="${at}.jpg" srcset="${at}-640.jpg 640w, ${at}-1280.jpg 1280w" alt="">`);
  },
  'download of its own': (html, made) =>
    atEnd(html, `<p><a href="/dl/${tokenOf(made)}/${nameOf(made.page)}.pdf">As PDF</a></p>`),
  invitation: (html, made) => atEnd(html, `<p><a href="https://chat.invalid/join/${tokenOf(made)}">Join us</a></p>`),
  'invitation on one page in three': (html, made) =>
    made.page % 3 === 0 ? atEnd(html, `<p><a href="https://chat.invalid/join/${tokenOf(made)}">Join us</a></p>`) : html,
  'link to share': (html, made) =>
    atEnd(html, `<p><a href="https://share.invalid/?u=${nameOf(made.page)}&amp;key=${tokenOf(made)}">Share</a></p>`),
  'query of a frame': (html, made) =>
    atEnd(html, `<iframe src="https://video.invalid/embed/talk?sig=${tokenOf(made)}"></iframe>`),
  anchor: (html, made) =>
    atEnd(html, `<p><a href="#tab-${tokenOf(made)}">Notes</a></p><div id="tab-${tokenOf(made)}"></div>`),
  'guarded mail': (html, made) => {
    const key = made.lot % 256;
    const hex = Buffer.from([key, ...[...Buffer.from('info@example.test')].map(sign => sign ^ key)]).toString('hex');
    return atEnd(
      html,
      `<p><a href="/cdn-cgi/l/email-protection#${hex}"><span class="__cf_email__" data-cfemail="${hex}">[email&#160;protected]</span></a></p>`,
    );
  },
  'mail in entities': (html, made) => {
    const signs = [...'mailto:info@example.test'].map((sign, at) =>
      mix(made.lot, at) % 2 === 0 ? `&#${sign.charCodeAt(0)};` : `&#x${sign.charCodeAt(0).toString(16)};`,
    );
    return atEnd(html, `<p><a href="${signs.join('')}">Write</a></p>`);
  },
  markup: (html, made) => {
    const value = tokenOf(made);
    const script = `<script nonce="${value}">window.__data={"build":"${value}","at":${made.lot}}</script>`;
    return atEnd(html, `<div class="Card_root__${value}" data-key="${value}" style="--k:${value}">${script}</div>`);
  },
  stamp: (html, { lot }) =>
    atEnd(
      html,
      `<p>Built ${new Date(9e11 + lot * 60).toISOString().slice(0, 19).replace('T', ' ')} UTC from ${token(8, HEX, lot)}</p>`,
    ),
  // Tokens of bundlers, whose alphabet has hyphens in it.
  'picture of a bundler': (html, made) =>
    atEnd(html, `<img src="/assets/logo-${token(8, BASE64URL, made.lot)}.png" alt="Logo">`),
  'picture of its own of a bundler': (html, made) =>
    atEnd(html, `<img src="/assets/${nameOf(made.page)}.${token(8, BASE64URL, made.lot)}.png" alt="Chart">`),
  'file of a bundler': (html, made) =>
    atEnd(html, `<p><a href="/assets/${nameOf(made.page)}-${token(8, BASE64URL, made.lot)}.pdf">As PDF</a></p>`),
};

export const injectionNames: readonly string[] = Object.keys(places).flatMap(place =>
  Object.keys(lots).map(lot => `${place} ${lot}`),
);

/** `seed`: lengths and alphabets of tokens. */
export function injectionOf(name: string, seed: number): Injection {
  const lot = Object.keys(lots).find(each => name.endsWith(` ${each}`))!;
  const show = places[name.slice(0, -lot.length - 1)]!;
  return {
    name,
    into: (html, place) => {
      const site = hashOf(seed, hashText(place.host));
      return show(html, { site, page: hashText(place.path), lot: lots[lot]!(site, place) });
    },
  };
}
