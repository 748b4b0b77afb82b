/**
 * A page made from a seed, and small edits of it: noise that no reader would call a change, and changes of content. Each
 * returns a page that differs from the one it was given.
 */
import { type Random, randomly } from '../test/random.ts';

const words =
  'listen harbour winter engine paper silver garden letter market bridge window number island river summer forest stone copper signal method planet thread basket candle mirror ladder anchor button carpet dragon'.split(
    ' ',
  );

const sentence = (random: Random, length: number): string =>
  `${Array.from({ length }, () => random.pick(words)).join(' ')}.`;

const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => '0123456789abcdef'[random.below(16)]).join('');

/** The parts that mutators exchange are marked by what surrounds them, as on real pages. */
export function makePage(seed: number): string {
  const random = randomly(seed);
  const paragraphs = Array.from({ length: 6 }, (_, i) => {
    const link = `<a href="/article/${random.pick(words)}-${i}.html" class="ref">${random.pick(words)}</a>`;
    return `<p id="p${i}">${sentence(random, 12)} ${sentence(random, 9)} See ${link} for ${sentence(random, 6)}</p>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>About the ${random.pick(words)}</title>
<meta name="csrf-token" content="${hex(random, 32)}">
<link rel="stylesheet" href="/assets/site.${hex(random, 8)}.css"><script nonce="${hex(random, 16)}" src="/assets/app.${hex(random, 8)}.js"></script>
</head><body class="article" id="top">
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/contact">Contact</a></li></ul></nav></header>
<main><h1>The ${random.pick(words)} and the ${random.pick(words)}</h1>
<form action="/search"><input type="hidden" name="_token" value="${hex(random, 40)}"><input name="q"></form>
${paragraphs.join('\n')}
<p>Please listen: it costs 12 euros, for 4 people.</p>
<img src="/images/picture.png?v=${hex(random, 8)}" alt="A ${random.pick(words)}" width="100">
<a href="/cart;jsessionid=${hex(random, 24).toUpperCase()}?item=7&amp;sid=${hex(random, 12)}">Order</a>
<p>Meeting on 5 May 2024 in the ${random.pick(words)} hall.</p>
<div class="ad-slot"><a href="https://ads.example/${random.below(1000)}">${sentence(random, 5)}</a></div>
<p class="stats">${1000 + random.below(9000)} views</p>
</main>
<footer><p>Last updated: 2024-05-${10 + random.below(19)} 10:${10 + random.below(49)}. Page generated in 3 May 2024 at 08:00.</p>
<p>Terms and conditions apply.</p></footer></body></html>`;
}

export type Kind = 'noise' | 'content';

export interface Mutator {
  readonly name: string;
  readonly kind: Kind;
  mutate(html: string, random: Random): string;
}

const noise = (name: string, mutate: Mutator['mutate']): Mutator => ({ name, kind: 'noise', mutate });
const content = (name: string, mutate: Mutator['mutate']): Mutator => ({ name, kind: 'content', mutate });

/** The n-th paragraph's inside changed. */
function inParagraph(html: string, index: number, change: (inside: string) => string): string {
  return html.replace(
    new RegExp(`(<p id="p${index}">)(.*?)(</p>)`),
    (_, open, inside, close) => open + change(inside) + close,
  );
}

/** The first word of an inside that has another letter or place to go. */
function replaceWord(inside: string, random: Random): string {
  const found = /[a-z]{5,}/.exec(inside)![0];
  return inside.replace(found, random.pick(words.filter(word => word !== found)));
}

export const mutators: readonly Mutator[] = [
  noise('csrf token', (html, random) => html.replace(/(name="_token" value=")[0-9a-f]+/, `$1${hex(random, 40)}`)),
  noise('nonce', (html, random) => html.replace(/nonce="[0-9a-f]+/, `nonce="${hex(random, 16)}`)),
  noise('session id in links', (html, random) =>
    html
      .replace(/jsessionid=[0-9A-F]+/, `jsessionid=${hex(random, 24).toUpperCase()}`)
      .replace(/sid=[0-9a-f]+/, `sid=${hex(random, 12)}`),
  ),
  noise('asset hash', (html, random) =>
    html.replace(/site\.[0-9a-f]{8}/, `site.${hex(random, 8)}`).replace(/\?v=[0-9a-f]{8}/, `?v=${hex(random, 8)}`),
  ),
  noise('comment', (html, random) => html.replace('<main>', `<main><!-- ${hex(random, 12)} -->`)),
  noise('white space', html => html.replaceAll('</p>\n', '</p>\n\n   ').replace('<h1>The ', '<h1>\n  The  ')),
  noise('attribute order', html => html.replace(/<a (href="[^"]*") (class="ref")>/, '<a $2 $1>')),
  noise('ad slot', (html, random) =>
    html.replace(/(class="ad-slot">).*?(<\/div>)/, `$1<img src="/b/${random.below(1e6)}.gif">${sentence(random, 7)}$2`),
  ),
  noise('timestamp', (html, random) =>
    html
      .replace(/2024-05-\d\d 10:\d\d/, `2024-06-${10 + random.below(19)} 11:${10 + random.below(49)}`)
      .replace('3 May 2024 at 08:00', `14 June 2024 at 09:${10 + random.below(49)}`),
  ),
  noise('counter', (html, random) => html.replace(/\d+ views/, `${10_000 + random.below(9000)} views`)),
  noise('navigation edit', (html, random) =>
    html.replace('<li><a href="/news">', `<li><a href="/${random.pick(words)}">New</a></li>$&`),
  ),
  noise('footer edit', (html, random) => html.replace('Terms and conditions apply', sentence(random, 5))),
  content('one character', (html, random) =>
    inParagraph(html, random.below(6), inside => inside.replace(/[a-z]/, c => (c === 'x' ? 'y' : 'x'))),
  ),
  content('digits swapped', html => html.replace('costs 12 euros', 'costs 21 euros')),
  content('words permuted', (html, random) =>
    inParagraph(html, random.below(6), inside => inside.replace(/([a-z]+) ((?!\1\b)[a-z]+)/, '$2 $1')),
  ),
  content('anagram', html => html.replace('Please listen', 'Please silent')),
  content('link target replaced', (html, random) =>
    html.replace(/\/article\/[a-z]+-3/, found => `/article/${random.pick(words.filter(w => !found.includes(w)))}-3`),
  ),
  content('keyword replaced', (html, random) =>
    inParagraph(html, random.below(6), inside => replaceWord(inside, random)),
  ),
  content('paragraphs swapped', html =>
    html.replace(/<p id="p1">(.*?)<\/p>\n<p id="p2">(.*?)<\/p>/, '<p id="p1">$2</p>\n<p id="p2">$1</p>'),
  ),
  content('plain date', html => html.replace('5 May 2024', '6 May 2024')),
  content('image replaced', html => html.replace('/images/picture.png', '/images/portrait.png')),
  content('title', (html, random) => html.replace(/<title>.*?</, `<title>Of the ${random.pick(words)}s<`)),
];
