/**
 * Small sites of one kind each, in which noise and news look alike: a shop whose offers by lot have prices in the words of its own
 * prices, a forum that counts the readers of each row, a pool of files behind signed links. What is learned of one page must not be
 * taken for true of another that only looks like it.
 */
import { DAY } from '../../../src/base/clock.ts';
import { hashOf, mix, pick } from '../random.ts';
import { paragraph, sentence, title, word } from '../words.ts';
import { between, type Look, type Part, type Rhythm, tickOf, token } from './part.ts';
import { states } from './states.ts';

export interface Scene {
  readonly name: string;
  /** Of each page; parts of a page stand next to each other. */
  readonly pages: readonly (readonly Part[])[];
}

type Html = (look: Look) => string;

const fresh = (hash: number, look: Look): number => hashOf(hash, look.turn, look.count);
const day = (look: Look): number => Math.floor(look.time / DAY);
const euros = (hash: number): string => `${between(3, 900, hash)}.${String(hash % 100).padStart(2, '0')} €`;
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const RHYTHMS: readonly Rhythm[] = ['day', 'once', 'week', 'pair', 'day', 'swing', 'once'];
const rhythmOf = (hash: number, at: number): Rhythm => RHYTHMS[(mix(hash, 5) + at) % RHYTHMS.length]!;

function quiet(name: string, html: Html, seen = true): Part {
  return { name, truth: 'noise', place: 'main', seen, html };
}

function telling(name: string, html: Html): Part {
  return { name, truth: 'news', place: 'main', seen: true, html };
}

/** HTML that holds noise, and the news in it. */
function mixed(name: string, html: Html, news: Html): Part {
  return { ...telling(name, html), news, held: news, noisy: true };
}

const still = (name: string, html: string): Part => quiet(name, () => html);

/** Products, each with its own price, and three other products by lot, with theirs in the same words. */
function shop(seed: number): Part[][] {
  return times(12, at => {
    const hash = hashOf(seed, at);
    const rhythm = rhythmOf(hash, at);
    const price = telling(`own price, ${rhythm}`, look => {
      return `<div><p>${euros(hashOf(hash, 7, tickOf(rhythm, hash, look)))}</p></div>`;
    });
    const offers = quiet('offers by lot', look => {
      const all = times(3, n => hashOf(seed, 60, hashOf(hash, fresh(hash, look), n) % 40));
      return all
        .map(one => `<div><h4><a href="/to/${word(one)}">${title(one)}</a></h4><p>${euros(one)}</p></div>`)
        .join('');
    });
    return at % 4 === 3 ? [price] : [price, still('heading', `<h3>${title(hash)}</h3>`), offers];
  });
}

/** Cells of a number: readers on some pages, stock on others. */
function numbers(seed: number): Part[][] {
  return times(12, at => {
    const hash = hashOf(seed, at);
    const rhythm = rhythmOf(hash, at);
    const stock = telling(`stock, ${rhythm}`, look => {
      const tick = tickOf(rhythm, hash, look);
      return `<table><tr><td>${title(hash)}</td><td>${2 + ((hash + 3 * tick) % 17)}</td></tr></table>`;
    });
    const readers = quiet('number by lot', look => {
      return `<table><tr><td>${title(mix(hash, 1))}</td><td>${2 + (fresh(hash, look) % 19)}</td></tr></table>`;
    });
    return at % 2 === 0 ? [readers] : [stock];
  });
}

/** A word of one machine or another on some pages, and the same two words as news on others. */
function words(seed: number): Part[][] {
  const [one, two] = ['yes', 'no'];
  return times(9, at => {
    const hash = hashOf(seed, at);
    const rhythm = rhythmOf(hash, at);
    if (at < 5)
      return [quiet('cached or not', look => `<dl><dt>Cached</dt><dd>${fresh(hash, look) % 2 ? one : two}</dd></dl>`)];
    return [
      still('lines', `<p>${title(hash)}</p>`.repeat(at)),
      telling(`yes or no, ${rhythm}`, look => {
        return `<dl><dt>Open to visitors</dt><dd>${tickOf(rhythm, hash, look) % 2 ? one : two}</dd></dl>`;
      }),
      still('lines', `<p>${sentence(hash)}</p>`.repeat(at)),
    ];
  });
}

/** Rows of an index with the readers of each, a row more now and then. */
function forum(seed: number): Part[][] {
  return times(4, at => {
    const hash = hashOf(seed, at);
    const rhythm: Rhythm = at % 2 === 0 ? 'day' : 'once';
    const rows = (look: Look) => {
      const newest = tickOf(rhythm, hash, look) + 20;
      return times(8, back => hashOf(hash, 9, newest - back));
    };
    const row = (one: number, look: Look) =>
      `<tr><td><a href="/t/${word(one)}-${one % 1000}">${title(one)}</a></td><td>${100 + ((look.turn * (1 + (one % 5)) + one) % 9000)} views</td></tr>`;
    return [
      mixed(
        `index with readers, ${rhythm}`,
        look =>
          `<table>${rows(look)
            .map(one => row(one, look))
            .join('')}</table>`,
        look =>
          rows(look)
            .map(one => title(one))
            .join('|'),
      ),
    ].map(part => ({ ...part, held: (look: Look) => title(rows(look)[0]!) }));
  });
}

/** Products in an order by lot; now and then one of them is another. */
function shuffled(seed: number): Part[][] {
  return times(3, at => {
    const hash = hashOf(seed, at);
    const rhythm: Rhythm = (['week', 'once', 'day'] as const)[at]!;
    const all = (look: Look) => times(9, n => hashOf(hash, n === 4 ? 40 + tickOf(rhythm, hash, look) : n));
    const inOrder = (look: Look) => {
      const lot = fresh(hash, look);
      return all(look).toSorted((a, b) => hashOf(lot, a) - hashOf(lot, b));
    };
    const part = mixed(
      `grid by lot, ${rhythm}`,
      look =>
        `<ul>${inOrder(look)
          .map(one => `<li><a href="/p/${word(one)}-${one % 997}">${title(one)}</a></li>`)
          .join('')}</ul>`,
      look =>
        all(look)
          .map(one => title(one))
          .join('|'),
    );
    return [{ ...part, held: (look: Look) => title(all(look)[4]!) }];
  });
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const sign = (length: number, hash: number, letters = BASE64URL): string =>
  times(length, at => letters[mix(hash, 400 + at) % letters.length]!).join('');

/** Names of pictures by bundlers, whose tokens have hyphens in them, by machine; and a picture that really is another. */
function bundled(seed: number): Part[][] {
  return times(8, at => {
    const hash = hashOf(seed, at);
    const node = quiet(
      'bundled picture of a node',
      look => `<img src="/i/${word(mix(seed, 1))}-${sign(8, hashOf(seed, fresh(hash, look) % 2))}.png" alt="Sign">`,
      false,
    );
    const own = telling('picture', look => {
      return `<img src="/i/${word(hashOf(hash, 6, tickOf('day', hash, look)))}-${sign(8, hashOf(hash, 6, day(look)))}.png" alt="">`;
    });
    return at % 3 === 0 ? [own] : [node];
  });
}

/** Downloads behind links that are signed for each request, with more than three tokens. */
function signed(seed: number): Part[][] {
  return times(6, at => {
    const hash = hashOf(seed, at);
    const rhythm = rhythmOf(hash, at);
    const file = (look: Look) => word(hashOf(hash, at % 2 === 0 ? tickOf(rhythm, hash, look) : 0));
    const html = (look: Look) => {
      const lot = fresh(hash, look);
      const when = new Date(1.7e12 + look.time + look.turn * 1000).toISOString().replace(/[-:]|\.\d+/g, '');
      return (
        `<p><a href="http://files.invalid/${file(look)}.pdf?X-Date=${when}&amp;X-Credential=${token(20, hash).toUpperCase()}%2F${when.slice(0, 8)}` +
        `&amp;X-Key=${sign(16, lot)}%2B${sign(9, mix(lot, 1))}%3D&amp;X-Token=${sign(40, mix(lot, 2))}&amp;X-Signature=${token(64, mix(lot, 3), '0123456789abcdef')}">The report</a></p>`
      );
    };
    return at % 2 === 0
      ? [mixed(`signed link to another file, ${rhythm}`, html, file)]
      : [quiet('signed link', html, false)];
  });
}

/** The same session in all links of a menu, one of which leads elsewhere one day. */
function sessions(seed: number): Part[][] {
  return times(5, at => {
    const hash = hashOf(seed, at);
    const target = (look: Look) => word(hashOf(hash, tickOf('once', hash, look)));
    const html = (look: Look) => {
      const session = token(24, fresh(hash, look), '0123456789abcdef').toUpperCase();
      const names = times(9, n => (n === 5 && at % 2 === 0 ? target(look) : word(hashOf(hash, 90, n))));
      return `<ul>${names.map(name => `<li><a href="/${name}.do;s=${session}.node${1 + (look.turn % 2)}">${word(hash)} ${name.length}</a></li>`).join('')}</ul>`;
    };
    return at % 2 === 0
      ? [mixed('one of many links with a session', html, target)]
      : [quiet('many links with a session', html, false)];
  });
}

/** The title says how many messages wait. */
function titles(seed: number): Part[][] {
  return times(6, at => {
    const hash = hashOf(seed, at);
    const name = (look: Look) => title(hashOf(hash, at % 2 === 0 ? tickOf('once', hash, look) : 0));
    const html = (look: Look) => `(${1 + (fresh(hash, look) % 9)}) ${name(look)}`;
    const part = at % 2 === 0 ? mixed('title with a number', html, name) : quiet('title with a number, no news', html);
    return [{ ...part, place: 'title' }];
  });
}

/** A counter and an advertisement in one block. */
function counted(seed: number): Part[][] {
  return times(20, at => {
    const hash = hashOf(seed, at);
    const html = (look: Look) => {
      const lot = fresh(hash, look);
      return `<p>Visitors: ${5000 + look.turn}. <a href="http://ads.invalid/c/${lot % 100_000}">${title(lot)} for ${euros(lot)}</a></p>`;
    };
    const price = telling('price', look => `<p>Ticket: ${euros(hashOf(hash, tickOf('day', hash, look)))}</p>`);
    return at % 5 === 0
      ? [price, quiet('counter with an advertisement', html)]
      : [quiet('counter with an advertisement', html)];
  });
}

/** Rates that move each second, and one of the names changes. */
function rates(seed: number): Part[][] {
  return times(3, at => {
    const hash = hashOf(seed, at);
    const names = (look: Look) => times(7, n => title(hashOf(hash, n === 3 ? 50 + tickOf('once', hash, look) : n)));
    const html = (look: Look) =>
      `<table>${names(look)
        .map(
          (name, n) =>
            `<tr><td>${name}</td><td>${(1 + (hashOf(fresh(hash, look), n) % 9000) / 1e4).toFixed(4)}</td></tr>`,
        )
        .join('')}</table>`;
    return [mixed('rates of the second', html, look => names(look).join('|'))].map(part => ({
      ...part,
      held: (look: Look) => names(look)[3]!,
    }));
  });
}

/** Ages stand beside comments, of which there is a new one now and then. */
function comments(seed: number): Part[][] {
  return times(4, at => {
    const hash = hashOf(seed, at);
    const rhythm: Rhythm = at % 2 === 0 ? 'day' : 'week';
    const all = (look: Look) => times(5, back => tickOf(rhythm, hash, look) + 10 - back).map(n => hashOf(hash, 33, n));
    const html = (look: Look) =>
      all(look)
        .map(
          (one, n) => `<div><b>${word(one)}</b> <i>${1 + ((look.turn + n) % 50)} min</i><p>${sentence(one)}</p></div>`,
        )
        .join('');
    return [
      {
        ...mixed(`comments with ages, ${rhythm}`, html, look =>
          all(look)
            .map(one => sentence(one))
            .join('|'),
        ),
        held: (look: Look) => sentence(all(look)[0]!),
      },
    ];
  });
}

/** An advertisement at any place between headlines. */
function amidst(seed: number): Part[][] {
  return times(4, at => {
    const hash = hashOf(seed, at);
    const rhythm: Rhythm = at % 2 === 0 ? 'day' : 'once';
    const all = (look: Look) => times(7, back => title(hashOf(hash, 34, tickOf(rhythm, hash, look) + 10 - back)));
    const html = (look: Look) => {
      const lot = fresh(hash, look);
      const lines = all(look).map(line => `<h3>${line}</h3>`);
      lines.splice(mix(lot, 1) % 7, 0, `<div><a href="http://ads.invalid/${lot % 999}">${sentence(lot)}</a></div>`);
      return lines.join('');
    };
    return [
      {
        ...mixed(`advertisement amidst headlines, ${rhythm}`, html, look => all(look).join('|')),
        held: (look: Look) => all(look)[0]!,
      },
    ];
  });
}

/** Another video on each page, each day or once. On ten and more it could not be told from a token of each build. */
function videos(seed: number): Part[][] {
  return times(9, at => {
    const hash = hashOf(seed, at);
    const rhythm: Rhythm = at % 3 === 0 ? 'day' : 'once';
    return [
      telling(
        `video, ${rhythm}`,
        look =>
          `<p>${paragraph(hash)}</p><iframe src="http://video.invalid/embed/${token(11, hashOf(hash, tickOf(rhythm, hash, look)))}"></iframe>`,
      ),
    ];
  });
}

/** Each page has a video of its own, and links to three by lot, with tokens of the same kind. */
function recommended(seed: number): Part[][] {
  return times(10, at => {
    const hash = hashOf(seed, at);
    const rhythm = at % 2 === 0 ? 'day' : 'once';
    const watch = (lot: number, name: string) =>
      `<p><a href="http://video.invalid/watch?v=${token(11, lot)}">${name}</a></p>`;
    const own = telling(`own video, ${rhythm}`, look => watch(hashOf(hash, tickOf(rhythm, hash, look)), 'Watch'));
    const others = quiet('videos by lot', look => {
      const lot = fresh(hash, look);
      return times(3, n => watch(hashOf(seed, 70, hashOf(lot, n) % 60), 'Next')).join('');
    });
    if (at % 3 === 0) return [own];
    return at % 3 === 1
      ? [own, still('line', `<p>${sentence(hash)}</p><p><a href="/about/${word(hash)}">More</a></p>`), others]
      : [others];
  });
}

/** On one page two lines with the same words: one by lot, one that says something. */
function twice(seed: number): Part[][] {
  return times(8, at => {
    const hash = hashOf(seed, at);
    const rhythm = rhythmOf(hash, at);
    const [one, two] = [
      ['open', 'closed'],
      ['3', '4'],
      ['up', 'down'],
    ][at % 3]!;
    const html = (value: string | undefined, label: string) =>
      `<table><tr><td>${label}</td><td>${value}</td></tr></table>`;
    return [
      quiet('one of two by lot', look => html(fresh(hash, look) % 2 ? one : two, `Machine ${word(hash)}`)),
      still('line', `<p>${sentence(hash)}</p>`),
      telling(`one of two, ${rhythm}`, look =>
        html(tickOf(rhythm, hash, look) % 2 ? one : two, `Gate ${word(mix(hash, 1))}`),
      ),
    ];
  });
}

/** Votes that come in each second, until the poll is closed. */
function polls(seed: number): Part[][] {
  return times(4, at => {
    const hash = hashOf(seed, at);
    const closed = (look: Look) => tickOf('once', hash, look) === 1;
    const html = (look: Look) => {
      const turn = closed(look) ? 7777 : look.turn;
      return `<p>Yes: ${40 + (turn % 9)}% (${100 + turn * 2} votes)</p><p>No: ${60 - (turn % 9)}% (${150 + turn} votes)</p>${closed(look) ? `<p>This poll is closed.</p>` : ''}`;
    };
    return [{ ...mixed('poll', html, look => (closed(look) ? 'closed' : 'open')), held: () => '' }];
  });
}

/** Tags and hints in an order by lot, and a hint that is new. */
function hints(seed: number): Part[][] {
  return times(6, at => {
    const hash = hashOf(seed, at);
    const pool = (look: Look) =>
      times(6, n => sentence(hashOf(seed, 71, n === 0 ? 100 + tickOf('once', seed, look) : n)));
    const rhythm = rhythmOf(hash, at);
    const own = telling(
      `line beside hints, ${rhythm}`,
      look => `<p>${sentence(hashOf(hash, tickOf(rhythm, hash, look)))}</p>`,
    );
    return [own, quiet('hint by lot', look => `<p>${pick(pool(look), fresh(hash, look))}</p>`)];
  });
}

const all: Readonly<Record<string, (seed: number) => Part[][]>> = {
  ...{ shop, numbers, words, forum, shuffled, bundled, signed, sessions, titles, counted, rates, comments, amidst },
  ...{ videos, polls, hints, recommended, twice },
  ...states,
};

export const sceneNames: readonly string[] = Object.keys(all);

export function sceneOf(name: string, seed: number): Scene {
  return { name, pages: all[name]!(hashOf(seed, 800, sceneNames.indexOf(name))) };
}
