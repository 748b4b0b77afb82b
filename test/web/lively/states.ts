/**
 * Small sites on which many pages say something of their own each day, by two values in turns or by a token of its own: what is
 * noise behind two machines, or in the assets of a build, and news here. Beside them the noise that it looks like.
 */
import { DAY } from '../../../src/base/clock.ts';
import { hashOf, mix } from '../random.ts';
import { sentence, title, word } from '../words.ts';
import { type Look, type Part, tickOf, token } from './part.ts';

type Html = (look: Look) => string;

const day = (look: Look): number => Math.floor(look.time / DAY);
const pages = (count: number, make: (at: number) => Part[]): Part[][] =>
  Array.from({ length: count }, (_, at) => make(at));

function telling(name: string, html: Html): Part {
  return { name, truth: 'news', place: 'main', seen: true, html };
}

function quiet(name: string, html: Html): Part {
  return { name, truth: 'noise', place: 'main', seen: true, html };
}

/** On every page a link that leads to one of two places by words, each page in its own rhythm. */
function doors(seed: number): Part[][] {
  return pages(40, at => {
    const hash = hashOf(seed, at);
    const rhythm = at % 2 === 0 ? 'swing' : 'pair';
    return [
      telling(`link by a word, ${rhythm}`, look => {
        return `<p><a href="/hall-${at}/${tickOf(rhythm, hash, look) ? 'open' : 'closed'}/">${title(hash)}</a></p>`;
      }),
    ];
  });
}

/** The same behind two machines, by lot at each request. */
function balanced(seed: number): Part[][] {
  return pages(40, at => {
    const hash = hashOf(seed, at);
    return [
      quiet('link to a machine by a word', look => {
        return `<p><a href="/hall-${at}/${hashOf(hash, look.turn) % 2 ? 'north' : 'south'}/">${title(hash)}</a></p>`;
      }),
      telling('line, once', look => `<p>${sentence(hashOf(hash, tickOf('once', hash, look)))}</p>`),
    ];
  });
}

/** Each page has a video of its own, and each day one page in five has another one. */
function embedded(seed: number): Part[][] {
  return pages(40, at => {
    const hash = hashOf(seed, at);
    return [
      telling('video, every fifth day', look => {
        const video = token(11, hashOf(hash, Math.floor((day(look) + at) / 5)));
        return `<iframe src="http://video.invalid/embed/${video}"></iframe>`;
      }),
    ];
  });
}

/** Each page has a picture in a folder that each build names anew for each page. */
function built(seed: number): Part[][] {
  return pages(40, at => {
    const hash = hashOf(seed, at);
    return [
      quiet('picture of a build', look => {
        return `<img src="/_img/${token(9, hashOf(hash, Math.floor(day(look) / 2)))}/${word(hash)}.png" alt="">`;
      }),
      telling('line, once', look => `<p>${sentence(hashOf(hash, tickOf('once', hash, look)))}</p>`),
    ];
  });
}

/** One line a page, of everything that is read daily; half of them go back to what they were. */
function daily(seed: number): Part[][] {
  const kinds: readonly ((tick: number, hash: number) => string)[] = [
    (tick, hash) => `Price: ${10 + (hash % 90)}.${String((tick * 7) % 100).padStart(2, '0')} €`,
    (tick, hash) => title(hashOf(hash, tick)),
    tick => `Next meeting: ${new Date(Date.UTC(2026, 1, 1 + tick)).toISOString().slice(0, 10)}`,
    tick => `Signatures: ${1000 + tick * 13}`,
    tick => (tick % 2 ? 'Open' : 'Closed'),
    tick => `Version 1.${2 + (tick % 2)}`,
    tick => (tick % 2 ? 'in stock' : 'out of stock'),
    (tick, hash) => `Order number ${token(10, hashOf(hash, tick)).toUpperCase()}`,
    (tick, hash) => `Rate ${(1 + (hashOf(hash, tick) % 9000) / 1e4).toFixed(4)}`,
    (tick, hash) => `<a href="/files/${token(12, hashOf(hash, tick))}.pdf">The report of the day</a>`,
    (tick, hash) => `<a href="/watch/${token(11, hashOf(hash, tick % 2))}">The video of the day</a>`,
  ];
  return pages(2 * kinds.length, at => {
    const hash = hashOf(seed, at);
    const kind = at % kinds.length;
    const from = mix(hash, 3) % 50;
    return [telling(`daily line ${kind}`, look => `<p>${kinds[kind]!(day(look) + from, hash)}</p>`)];
  });
}

/** How a page refers to something that a token alone names. */
const things: readonly ((name: string) => string)[] = [
  name => `<iframe src="http://video.invalid/embed/${name}"></iframe>`,
  name => `<p><a href="http://video.invalid/watch?v=${name}">Watch</a></p>`,
  name => `<p><a href="/files/${name}.pdf">Menu of the day</a></p>`,
  name => `<p><a href="/story/${name}/read">Read on</a></p>`,
  name => `<p><img src="/u/${name}.jpg" alt="Photo of the day"></p>`,
  name => `<p><img src="/u/${name}/large.jpg" alt="Photo of the day"></p>`,
];
/** Of these, links and frames. */
const LINKS = 4;

/** Pages that show one of a few videos, files or photos each day: what one has today another had yesterday. */
function exchanged(seed: number): Part[][] {
  return pages(24, at => {
    const [hash, kind] = [hashOf(seed, at), at % things.length];
    return [
      telling(`one of a few ${kind}`, look => {
        return things[kind]!(token(11, hashOf(seed, kind, hashOf(hash, day(look)) % 6)));
      }),
    ];
  });
}

/** Pages that all have another video, file or story of their own on the same day. */
function renewed(seed: number): Part[][] {
  return pages(24, at => {
    const hash = hashOf(seed, at);
    const issue = (look: Look) => hashOf(hash, Math.floor(day(look) / 3));
    return [
      telling('another one with each issue', look => {
        if (seed % 5 === 4) return `<p><a href="/story/${100_000_000 + (issue(look) % 899_999_999)}">Read on</a></p>`;
        return things[seed % LINKS]!(token(11, issue(look)));
      }),
    ];
  });
}

/** One of two blocks by lot, the same two on all pages, which stand beside what each page has for itself. */
function tested(seed: number): Part[][] {
  const [one, two] = [sentence(hashOf(seed, 1)), sentence(hashOf(seed, 2))];
  return pages(20, at => {
    const hash = hashOf(seed, at);
    return [
      quiet('one of two blocks', look => {
        if (hashOf(hash, look.turn) % 7 < 3) return `<div><h2>Letter</h2><p>${one}</p></div>`;
        return `<div><p>${two}</p></div>`;
      }),
      telling('line, once', look => `<p>${sentence(hashOf(hash, tickOf('once', hash, look)))}</p>`),
    ];
  });
}

/** The same lines in an order by lot, some of which are where they were by chance, and beside them a line that somebody writes. */
function reordered(seed: number): Part[][] {
  return pages(12, at => {
    const hash = hashOf(seed, at);
    return [
      quiet('lines in an order by lot', look => {
        const lot = (line: number) => hashOf(hash, look.turn, line) % 997;
        const lines = [0, 1, 2, 3, 4, 5].toSorted((a, b) => lot(a) - lot(b));
        return `<ul>${lines.map(line => `<li>${title(hashOf(hash, line))}</li>`).join('')}</ul>`;
      }),
      telling('a line of its own', look => `<p>${sentence(hashOf(hash, 9, Math.floor((day(look) + at) / 4)))}</p>`),
    ];
  });
}

export const states: Readonly<Record<string, (seed: number) => Part[][]>> = {
  ...{ doors, balanced, embedded, built, daily, exchanged, renewed, tested, reordered },
};
