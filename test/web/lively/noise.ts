/** Parts that no reader would call a change, each in the way of real sites. Two looks at the same time differ in them. */
import { hashOf, mix, pick } from '../random.ts';
import { sentence, title, word } from '../words.ts';
import { lots } from './noise-by-lot.ts';
import { hidden, type NoiseKind, visible } from './noise-kind.ts';
import { tokens } from './noise-tokens.ts';
import { between, type Part, token } from './part.ts';

/** The same address, written in one of the ways in which mail links are hidden from robots. */
function encoded(address: string, fresh: number): string {
  return [...address]
    .map((sign, at) => {
      const code = sign.charCodeAt(0);
      const way = mix(fresh, at) % 4;
      if (way === 0) return `&#${code};`;
      if (way === 1) return `&#x${code.toString(16)};`;
      return way === 2 ? `%${code.toString(16)}` : sign;
    })
    .join('');
}

function covered(address: string, fresh: number): string {
  const key = fresh % 256;
  return Buffer.from([key, ...[...Buffer.from(address)].map(sign => sign ^ key)]).toString('hex');
}

const plain: Readonly<Record<string, NoiseKind>> = {
  counter: visible((_, look, fixed) => `<p>Visitors: ${between(1000, 90_000, fixed) + look.turn * 3}</p>`),
  advertisement: visible(
    fresh =>
      `<div class="ad"><a href="http://ads.invalid/click/${fresh}">${title(fresh)}</a> <span>${sentence(fresh)}</span></div>`,
    'aside',
  ),
  // Nothing in its markup says what it is.
  recommendation: visible(
    fresh =>
      `<div><p>${title(fresh)}</p><p><a href="http://shop.invalid/${word(fresh)}-${word(mix(fresh, 1))}">${sentence(fresh)}</a></p></div>`,
  ),
  'random number': visible(fresh => `<p>Your number in the draw is ${fresh % 100_000}.</p>`),
  quotation: visible((fresh, _, fixed) => `<blockquote>${sentence(hashOf(fixed, 3, fresh % 5))}</blockquote>`),
  'there or not': visible((fresh, _, fixed) => (fresh % 2 === 0 ? `<p>${sentence(fixed)}</p>` : '')),
  clock: visible(
    (_, look) => `<p>It is ${new Date(look.time + look.turn * 1000).toISOString().slice(11, 19)} now.</p>`,
  ),
  'time to make': visible(fresh => `<p>Made in 0.${String(fresh % 10_000).padStart(4, '0')} seconds</p>`, 'footer'),
  node: visible((fresh, _, fixed) => `<p>Served by ${pick(['web', 'app'], fixed)}-${1 + (fresh % 2)}</p>`, 'footer'),
  'invite token': visible(
    fresh => `<p><a href="http://chat.invalid/invite/${token(7, fresh, 'ABCDEFGHabcdefgh23456789')}">Join</a></p>`,
  ),
  'session in a link': hidden((fresh, _, fixed) => `<p><a href="/?sid=${token(12, fresh)}">${word(fixed)}</a></p>`),
  'mail link': hidden(
    (fresh, _, fixed) => `<p><a href="mailto:${encoded(`${word(fixed)}@example.test`, fresh)}">Write</a></p>`,
  ),
  'form token': hidden(
    fresh => `<form action="/"><input type="hidden" name="_token" value="${token(32, fresh)}"></form>`,
  ),
  nonce: hidden(fresh => `<script nonce="${token(20, fresh)}">var page = ${fresh};</script>`, 'head'),
  // Under the key of a proxy, which is another at each request.
  'covered mail': hidden(
    (fresh, _, fixed) =>
      `<p><a href="/x/email-protection#${covered(`${word(fixed)}@example.test`, fresh)}">Write</a></p>`,
  ),
  'token of a form in a link': hidden(
    (fresh, _, fixed) => `<p><a href="/leave?authenticity=${token(10, fresh)}">${word(fixed)} out</a></p>`,
  ),
  'request in a comment': hidden(fresh => `<!-- request ${token(16, fresh)}, made in ${fresh % 900} ms -->`, 'footer'),
  'minutes ago': hidden((fresh, _, fixed) => `<p>Written ${1 + (fresh % 58)} minutes ago by ${word(fixed)}</p>`),
  // One look in three comes from the other machine.
  'asset of one in three': hidden(
    (fresh, _, fixed) =>
      `<img src="/i/${token(4 + (fixed % 5), hashOf(fixed % 2, 78, fresh % 3 === 0 ? 1 : 0))}/sign.png" alt="Sign">`,
  ),
  'variant of a node': visible((fresh, _, fixed) =>
    fresh % 2 === 0
      ? `<section class="hero-a"><p>${sentence(fixed)}</p><p>${title(fixed)}</p></section>`
      : `<section class="hero-b"><h2>${sentence(mix(fixed, 1))}</h2></section>`,
  ),
  'asset of a node': hidden((fresh, _, fixed) => `<img src="/i/${nodeToken(fixed, fresh)}/logo.png" alt="Logo">`),
};

const kinds: Readonly<Record<string, NoiseKind>> = { ...plain, ...tokens, ...lots };

/** `hard`: with tokens of any kind and what is drawn by lot. */
export const noiseNames: Readonly<Record<'usual' | 'hard', readonly string[]>> = {
  usual: Object.keys(plain),
  hard: Object.keys(kinds),
};

/** Two nodes, each with its own token of six characters, the same on many pages of a site. */
export function nodeToken(site: number, fresh: number): string {
  return token(6, hashOf(site % 3, 77, fresh % 2));
}

export function noise(kind: string, hash: number): Part {
  const { place, seen, show } = kinds[kind]!;
  return {
    name: kind,
    truth: 'noise',
    place,
    seen,
    html: look => show(hashOf(hash, look.turn, look.count), look, hash),
  };
}
