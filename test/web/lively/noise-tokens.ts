/** Noise of machines: tokens of any length and alphabet, at any position of links and pictures, and what servers say of themselves. */
import { hashOf, mix, pick } from '../random.ts';
import { word } from '../words.ts';
import { hidden, type NoiseKind, visible } from './noise-kind.ts';
import { between } from './part.ts';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALPHABETS = [
  '0123456789abcdef',
  LOWER + DIGITS,
  LOWER + LOWER.toUpperCase() + DIGITS,
  `${LOWER}${LOWER.toUpperCase()}${DIGITS}-_`,
  LOWER,
  DIGITS,
];

/** So many signs of the alphabet, whatever comes out: a token need hold no digit. */
export function anyToken(length: number, alphabet: string, hash: number): string {
  let text = '';
  for (let at = 0; at < length; at++) text += alphabet[mix(hash, 200 + at) % alphabet.length];
  return text;
}

/** Where in an address it stands; `fixed` chooses, `value` is the token. */
export function withToken(fixed: number, value: string): string {
  const name = word(fixed);
  return pick(
    [
      `${value}/${name}`,
      `${name}/${value}`,
      `${name}-${value}`,
      `${value}_${name}`,
      `${name}.${value}`,
      `a/${name}/v${value}/x`,
      `${name}?t=${value}`,
      `${name}?lang=en&amp;key=${value}&amp;v=2`,
      `${name};s=${value}`,
    ],
    mix(fixed, 61),
  );
}

const alphabetOf = (fixed: number): string => pick(ALPHABETS, mix(fixed, 62));

/** The token of one of two to four nodes: the same on all pages with that `fixed`. */
export function tokenOfNode(fixed: number, lot: number): string {
  const nodes = 2 + (mix(fixed, 63) % 3);
  return anyToken(between(4, 13, mix(fixed, 64)), alphabetOf(fixed), hashOf(fixed, 65, lot % nodes));
}

const madeIn = (fresh: number): string => (fresh % 4000 < 1000 ? `${fresh % 1000} ms` : `${(fresh % 4000) / 1000} s`);

export const tokens: Readonly<Record<string, NoiseKind>> = {
  'token in a link': hidden((fresh, _, fixed) => {
    const value = anyToken(between(3, 41, mix(fixed, 66)), alphabetOf(fixed), fresh);
    return `<p><a href="http://out.invalid/${withToken(fixed, value)}">${word(fixed)}</a></p>`;
  }),
  'token in a picture': hidden((fresh, _, fixed) => {
    const value = anyToken(between(3, 41, mix(fixed, 66)), alphabetOf(fixed), fresh);
    return `<img src="/i/${withToken(fixed, value)}.png" alt="${word(fixed)}">`;
  }),
  'picture of one of several nodes': hidden(
    (fresh, _, fixed) => `<img src="/i/${withToken(fixed, tokenOfNode(fixed, fresh))}.png" alt="${word(fixed)}">`,
  ),
  'link of one of several nodes': hidden(
    (fresh, _, fixed) =>
      `<p><a href="http://out.invalid/${withToken(fixed, tokenOfNode(fixed, fresh))}">${word(fixed)}</a></p>`,
  ),
  'guarded mail': hidden((fresh, _, fixed) => {
    const key = fresh % 256;
    const signs = [...Buffer.from(`${word(fixed)}@example.test`)].map(sign => sign ^ key);
    const hex = Buffer.from([key, ...signs]).toString('hex');
    return `<p><a href="/x/email-protection" class="mail" data-cfemail="${hex}">[protected]</a></p>`;
  }),
  'token in a form': hidden(
    (fresh, _, fixed) =>
      `<form action="/send?csrf=${anyToken(22, alphabetOf(fixed), fresh)}"><button>${word(fixed)}</button></form>`,
  ),
  'invitations in links': hidden(
    (fresh, _, fixed) =>
      `<ul><li><a href="http://chat.invalid/join/${anyToken(8, alphabetOf(fixed), fresh)}">Join</a></li>` +
      `<li><a href="http://chat.invalid/${word(fixed)}?ref=${anyToken(11, alphabetOf(fixed), mix(fresh, 1))}">Ask</a></li></ul>`,
  ),
  'time of the request': visible(
    (fresh, look) =>
      `<p>Generated in ${madeIn(fresh)}, ${new Date(look.time + look.turn * 1713).toISOString().slice(11, 23)}</p>`,
    'footer',
  ),
  'last generated': hidden(
    (_, look) => `<p>Last generated: ${new Date(look.time + look.turn * 1713).toISOString().slice(0, 19)}</p>`,
    'footer',
  ),
  views: visible(
    (_, look, fixed) => `<p>${(between(100, 90_000, fixed) + look.turn * 3).toLocaleString('en')} views so far</p>`,
  ),
  'readers now': visible(fresh => `<div><span>${2 + (fresh % 37)}</span> reading now</div>`, 'aside'),
};
