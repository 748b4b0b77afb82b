/**
 * Pages on which a rule for noise that is a little too broad loses news for good: what says something stands beside,
 * between or in the same block as what says nothing, swings as nodes of a balancer do, or has values like tokens.
 */
import { DAY } from '../../../src/base/clock.ts';
import { hashOf, mix } from '../random.ts';
import { sentence, title, word } from '../words.ts';
import { news } from './news.ts';
import { nodeToken, noise } from './noise.ts';
import { between, type Look, type Part, type Rhythm, tickOf, token } from './part.ts';

export interface Adversary {
  readonly name: string;
  /** Of each page that takes part; they stand next to each other, nothing between them. */
  readonly pages: readonly (readonly Part[])[];
}

/** Those whose HTML holds noise beside the news, or before it. */
const NOISY: readonly string[] = [
  'price and counter in one block',
  'swing and clock in one block',
  'price and counter in one row',
  'random text becomes a notice',
  'picture behind two nodes',
  'link with a session, to another page each day',
];

/** Part of a page whose HTML holds more than the news. */
function told(name: string, html: (look: Look) => string, what: (look: Look) => string): Part {
  return { name, truth: 'news', place: 'main', seen: true, html, news: what, noisy: NOISY.includes(name) };
}

const euros = (hash: number): string => `${between(3, 900, hash)}.${String(hash % 100).padStart(2, '0')} €`;
const many = (count: number, make: (at: number) => readonly Part[]): (readonly Part[])[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Price and counter in one block: the block differs at every look, and the price within it each day. */
function inOneBlock(hash: number): Part {
  const price = (look: Look) => euros(hashOf(hash, tickOf('day', hash, look)));
  return told(
    'price and counter in one block',
    look => `<p>Price ${price(look)}, seen by ${9000 + look.turn * 7} people</p>`,
    price,
  );
}

function besideAClock(hash: number): Part {
  const state = (look: Look) => (tickOf('swing', hash, look) === 0 ? 'open' : 'closed');
  const now = (look: Look) => new Date(look.time + look.turn * 1000).toISOString().slice(11, 19);
  return told('swing and clock in one block', look => `<p>${now(look)}: the harbour is ${state(look)}</p>`, state);
}

function inOneRow(hash: number): Part {
  const price = (look: Look) => euros(hashOf(hash, tickOf('day', hash, look)));
  const row = (look: Look) => `<td>${word(hash)}</td><td>${look.turn * 11} bids</td><td>${price(look)}</td>`;
  return told('price and counter in one row', look => `<table><tr>${row(look)}</tr></table>`, price);
}

/** All pages show one of the same two prices, every second page the other one. */
function opposite(hash: number, at: number): Part {
  const price = (look: Look) => euros(hashOf(hash, (Math.floor(look.time / DAY) + at) % 2));
  return told('two prices, in turns', look => `<p>Today: ${price(look)}</p>`, price);
}

/** A place that is different at each look, until it says something that stays. */
function becomesNotice(hash: number): Part {
  const stays = (look: Look) => look.time > 4.5 * DAY;
  const notice = `Closed for good. ${sentence(hash)}`;
  return told(
    'random text becomes a notice',
    look => `<div><p>${stays(look) ? notice : sentence(hashOf(hash, look.turn))}</p></div>`,
    look => (stays(look) ? notice : ''),
  );
}

/** It swings from day to day, and once by chance between two looks of a round, which proves nothing. */
function swingsOnceBetweenLooks(): Part {
  const flips = (look: Look) => look.round === 2 && look.again > 0;
  const state = (look: Look) =>
    (Math.floor(look.time / DAY) + (flips(look) ? 1 : 0)) % 2 === 0 ? 'Running' : 'Standing still';
  return told('swing, once between two looks', look => `<p>${state(look)}</p>`, state);
}

/** A picture of each day, behind a balancer whose nodes write their own token into its address. */
function pictureBehindNodes(hash: number): Part {
  const name = (look: Look) => word(hashOf(hash, tickOf('day', hash, look)));
  const node = (look: Look) => nodeToken(hash, hashOf(hash, look.turn));
  const html = (look: Look) => `<img src="/i/${node(look)}/${name(look)}.png" alt="Map">`;
  return { ...told('picture behind two nodes', html, name), held: name };
}

function targetWithSession(hash: number): Part {
  const target = (look: Look) => word(hashOf(hash, tickOf('day', hash, look)));
  const session = (look: Look) => token(12, hashOf(hash, look.turn));
  const html = (look: Look) => `<p><a href="http://stories.invalid/${target(look)}?sid=${session(look)}">Today</a></p>`;
  return { ...told('link with a session, to another page each day', html, target), held: target };
}

function pictureByToken(hash: number): Part {
  const name = (look: Look) => token(10, hashOf(hash, tickOf('day', hash, look)));
  return told('picture named by a token', look => `<img src="/i/${name(look)}.png" alt="Photo">`, name);
}

/** A word in a query is no token, though many pages have another one there at the same time. */
function queried(hash: number, rhythm: Rhythm): Part {
  const story = (look: Look) => `${word(hashOf(hash, tickOf(rhythm, hash, look)))}stone`;
  const html = (look: Look) => `<p><a href="http://stories.invalid/read?story=${story(look)}">Read on</a></p>`;
  return told(`link with a word in its query, ${rhythm}`, html, story);
}

/** All pages close on one day and open on the next, as one; later one of them closes alone, and opens again. */
function closesAlone(at: number): Part {
  const day = (look: Look) => Math.floor(look.time / DAY);
  // Four days lie between, so that every rhythm of rounds meets it open once more.
  const all = (look: Look) => day(look) >= 1 && day(look) < 3;
  const alone = (look: Look) => at === 0 && day(look) >= 7 && day(look) < 10;
  const html = (look: Look) => `<p>The shop is ${all(look) || alone(look) ? 'closed' : 'open'}.</p>`;
  return {
    ...told('closes with all, then alone', html, look => (alone(look) ? 'closed alone' : '')),
    place: 'menu',
    shared: look => (all(look) ? 'closed' : 'open'),
  };
}

export function adversaries(seed: number): readonly Adversary[] {
  const at = (number: number) => hashOf(seed, 900 + number);
  return [
    { name: 'swing beside a counter', pages: [[noise('counter', at(1)), news('status', 'swing', at(2))]] },
    {
      name: 'price between noise',
      pages: [[noise('counter', at(3)), news('bare price', 'day', at(4)), noise('random number', at(5))]],
    },
    {
      name: 'status behind a block that comes and goes',
      pages: [[noise('there or not', at(6)), news('bare status', 'pair', at(7)), noise('quotation', at(8))]],
    },
    { name: 'two prices, in turns', pages: many(6, page => [opposite(at(9), page)]) },
    {
      name: 'daily link with a token',
      pages: many(6, page => [news('link with a token', 'day', hashOf(at(10), page)), noise('invite token', at(11))]),
    },
    { name: 'daily word in a query', pages: many(6, page => [queried(hashOf(at(33), page), 'day')]) },
    { name: 'one of two words in a query', pages: [[queried(at(34), 'pair')]] },
    { name: 'closes with all, then alone', pages: many(8, page => [closesAlone(page)]) },
    { name: 'daily video', pages: many(6, page => [news('video', 'day', hashOf(at(12), page))]) },
    { name: 'daily account number', pages: many(6, page => [news('account', 'day', hashOf(at(13), page))]) },
    { name: 'in one block', pages: [[inOneBlock(at(14))]] },
    { name: 'beside a clock', pages: [[besideAClock(at(15))]] },
    { name: 'in one row', pages: [[inOneRow(at(16))]] },
    { name: 'becomes a notice', pages: [[becomesNotice(at(17))]] },
    { name: 'swings once between looks', pages: [[swingsOnceBetweenLooks()]] },
    { name: 'picture behind nodes', pages: [[pictureBehindNodes(at(19))]] },
    { name: 'target with a session', pages: [[targetWithSession(at(20))]] },
    { name: 'picture named by a token', pages: [[pictureByToken(at(21))]] },
    { name: 'phone number, once', pages: [[news('phone', 'once', at(22)), noise('invite token', at(23))]] },
    { name: 'the same new row on three pages', pages: many(3, () => [news('rows', 'once', at(24))]) },
    { name: 'next and previous', pages: many(2, page => [news('next link', 'once', mix(at(25), page))]) },
    { name: 'a footer of its own', pages: [[news('hours', 'week', at(26), 'footer')]] },
    { name: 'an aside of its own', pages: [[news('status', 'pair', at(27), 'aside')]] },
    { name: 'hourly headline', pages: [[news('headline', 'hour', at(28)), noise('recommendation', at(29))]] },
    { name: title(at(30)), pages: [[noise('recommendation', at(31)), noise('advertisement', at(32))]] },
  ];
}
