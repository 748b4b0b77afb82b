/** Parts that say something: each kind is the HTML of its value, and the rhythm says when there is another value. */
import { hashOf, mix, pick } from '../random.ts';
import { paragraph, sentence, title, word } from '../words.ts';
import { between, type Part, type Place, type Rhythm, tickOf, token } from './part.ts';

/** The HTML of a value. `fixed` is the part's own hash, the same for all its values. */
type Show = (value: number, fixed: number, tick: number) => string;

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday'.split(' ');
const STATES = ['open', 'closed', 'delayed', 'sold out', 'in stock', 'cancelled'];

const money = (hash: number): string => `${between(3, 900, hash)}.${String(hash % 100).padStart(2, '0')}`;
const clockTime = (hash: number): string => `${between(6, 22, hash)}:${String((hash % 12) * 5).padStart(2, '0')}`;
const digits = (length: number, hash: number): string => token(length, hash, '0123456789').replace(/\D/g, '7');

/** Neighbouring ticks never have the same one of a short list. */
const oneOf = (list: readonly string[], fixed: number, tick: number): string => list[(fixed + tick) % list.length]!;

export const kinds: Readonly<Record<string, Show>> = {
  price: value => `<p>Price: ${money(value)} €</p>`,
  'bare price': value => `<div><span>${money(value)} €</span></div>`,
  rate: (value, fixed) =>
    `<table><tr><td>EUR/${word(fixed)}</td><td>${(0.5 + (value % 20000) / 1e4).toFixed(4)}</td></tr></table>`,
  headline: value => `<h2>${title(value)} ${word(value)}</h2><p>${sentence(value)}</p>`,
  status: (_, fixed, tick) => `<p>Status: ${oneOf(STATES, fixed, tick)}</p>`,
  'bare status': (_, fixed, tick) => `<div><b>${oneOf(STATES, fixed, tick)}</b></div>`,
  version: (value, _, tick) => `<p>Version ${between(1, 9, value)}.${tick % 40}.${value % 12}</p>`,
  date: (value, _, tick) =>
    `<p>Next meeting: ${pick(WEEKDAYS, value)}, ${1 + (tick % 28)} ${pick(MONTHS, mix(value, 1))}</p>`,
  hours: value => `<p>Open from ${clockTime(value)} to ${clockTime(mix(value, 1))}</p>`,
  departure: (value, fixed) => `<table><tr><td>Line ${word(fixed)}</td><td>${clockTime(value)}</td></tr></table>`,
  phone: value => `<p>Phone: +49 30 ${digits(10, value)}</p>`,
  account: value => `<p>Account DE${digits(20, value)}</p>`,
  paragraph: value => `<p>${paragraph(value)}</p>`,
  'one word': (value, fixed) => `<p>${sentence(fixed)} It is ${word(value)}. ${sentence(mix(fixed, 1))}</p>`,
  digits: (_, fixed, tick) => `<p>${sentence(fixed)} It seats ${tick % 2 === 0 ? 12 : 21} people.</p>`,
  link: value => `<p><a href="http://stories.invalid/${word(value)}-${word(mix(value, 1))}">The story</a></p>`,
  'link with a token': value => `<p><a href="http://stories.invalid/s/${token(9, value)}">Story of the day</a></p>`,
  video: value => `<p>To watch:</p><iframe src="http://video.invalid/embed/${token(11, value)}"></iframe>`,
  image: value => `<img src="/i/${word(value)}-${value % 100}.png" alt="Chart">`,
  'image text': value => `<img src="/i/chart.png" alt="${sentence(value)}">`,
  list: (_, fixed, tick) =>
    `<ul>${[0, 1, 2, 3, 4].map(back => `<li>${title(hashOf(fixed, tick - back + 1000))}</li>`).join('')}</ul>`,
  rows: (_, fixed, tick) =>
    `<table>${Array.from({ length: 4 + (tick % 30) }, (_, row) => `<tr><td>${title(hashOf(fixed, row))}</td><td>${row}</td></tr>`).join('')}</table>`,
  order: (_, fixed, tick) => {
    const [one, two] = [`<p>${sentence(fixed)}</p>`, `<p>${sentence(mix(fixed, 1))}</p>`];
    return tick % 2 === 0 ? one + two : two + one;
  },
  notice: (_, fixed, tick) => (tick % 2 === 0 ? `<p>${sentence(fixed)}</p>` : ''),
  cents: (_, fixed, tick) =>
    `<p>One costs $${between(3, 90, fixed)}.${String((fixed + tick) % 100).padStart(2, '0')}</p>`,
  roundtable: (value, _, tick) =>
    `<p>Next Roundtable ${pick(WEEKDAYS, value)}, ${pick(MONTHS, mix(value, 1))} ${1 + (tick % 28)}</p>`,
  'version in a menu': (value, fixed, tick) =>
    `<ul><li><a href="/v/${word(fixed)}">v${between(1, 9, value)}.${tick % 40} (stable)</a></li></ul>`,
  'dated price': (value, _, tick) => `<p>As of 2026-04-${10 + (tick % 18)}: ${money(value)} €</p>`,
  'next link': (value, fixed) =>
    `<p><a href="http://stories.invalid/next/${word(value)}">Next: ${title(value)}</a> after ${word(fixed)}</p>`,
  contents: (value, fixed) =>
    `<ol><li>${title(fixed)}</li><li>${title(mix(fixed, 1))}</li><li>${title(value)}</li></ol>`,
};

/** A token that goes back and forth on one page is what a machine behind a name shows: news has a new one each time. */
const byToken: ReadonlySet<string> = new Set(['link with a token', 'video']);
const comesBack: ReadonlySet<Rhythm> = new Set(['swing', 'pair']);

export const kindNames: readonly string[] = Object.keys(kinds);

/** `hash` makes its values differ from those of other parts; parts of equal hash change at the same time and alike. */
export function news(kind: string, rhythm: Rhythm, hash: number, place: Place = 'main'): Part {
  const show = kinds[kind]!;
  if (byToken.has(kind) && comesBack.has(rhythm)) return news(kind, 'day', hash, place);
  return {
    name: `${kind}, ${rhythm}`,
    truth: 'news',
    place,
    seen: true,
    html(look) {
      const tick = tickOf(rhythm, hash, look);
      return show(hashOf(hash, 7, tick), hash, tick);
    },
  };
}

/** The same HTML, but many pages have it. */
export function sharedPart(kind: string, rhythm: Rhythm, hash: number, place: Place): Part {
  const part = news(kind, rhythm, hash, place);
  return { ...part, name: `${part.name}, on many pages`, truth: 'shared' };
}

/** The title of the page, which changes with the rhythm. */
export function changingTitle(rhythm: Rhythm, hash: number): Part {
  return {
    name: `title, ${rhythm}`,
    truth: 'news',
    place: 'title',
    seen: true,
    html: look => title(hashOf(hash, 8, tickOf(rhythm, hash, look))),
  };
}
