/**
 * Queries with known answers, made by rule from the pages themselves: no query is chosen by hand, and none was changed
 * because it was missed. Which pages are asked for is drawn by hash, so that the same pages give the same queries.
 *
 * Half of each kind is held out, by hash as well: rules and weights of the search are looked at with the other half only.
 */
import { createHash } from 'node:crypto';
import type { SearchDocument } from '../../src/search/index.ts';

export interface KnownItem {
  readonly kind: string;
  readonly query: string;
  /** Any of these pages answers it. */
  readonly pages: ReadonlySet<number>;
  readonly heldOut: boolean;
}

/** A page with the name that people know it by. */
interface Named {
  readonly document: SearchDocument;
  readonly name: string;
  readonly host: string;
  readonly path: string;
}

type Draft = readonly [query: string, pages: Iterable<number>];
type Rule = (draw: Draw) => Draft[];

const hash = (text: string) => createHash('sha1').update(text).digest('hex');
const chance = (text: string) => Number.parseInt(hash(text).slice(0, 8), 16) / 2 ** 32;

/** What the page is called, without numbers of chapters and what all titles of its site say. */
function nameOf(title: string): string {
  const bare = title
    .replace(/ - cppreference\.com$| \(Java SE 17 & JDK 17\)$/, '')
    .replace(/^(?:Chapter |Appendix )?[A-Z]?\d*(?:\.\d+)*\. /, '');
  return bare.split(/ [|·–—-] /)[0]!.trim();
}

const isSign = /operator\W|[<>+#]/;
const bare = (text: string) => (text.normalize('NFC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(' ').toLowerCase();
const wordsOf = (text: string) => bare(text).split(' ').filter(Boolean);

/** The parts of a CamelCase name. */
const parts = (name: string) => name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];

/** Which pages are asked for, and which pages answer. */
class Draw {
  readonly named: readonly Named[];
  readonly #byName = new Map<string, number[]>();
  readonly #names = new Map<number, string>();

  constructor(documents: readonly SearchDocument[]) {
    this.named = documents
      .filter(({ noindex, title }) => !noindex && title !== '')
      .map(document => {
        const { host, pathname } = new URL(document.url);
        return { document, name: nameOf(document.title), host, path: decodeURIComponent(pathname) };
      });
    for (const { document, name } of this.named) {
      const key = bare(name);
      this.#names.set(document.page, name);
      this.#byName.set(key, [...(this.#byName.get(key) ?? []), document.page]);
    }
  }

  /** Some of the pages that pass, drawn by hash, each name once. */
  some(salt: string, count: number, passes: (page: Named) => boolean): Named[] {
    const chosen = this.named
      .filter(page => passes(page) && this.isTelling(page))
      .map(page => ({ page, order: hash(salt + page.document.url) }));
    const unique = new Map(chosen.sort((a, b) => (a.order < b.order ? -1 : 1)).map(one => [one.page.name, one.page]));
    return [...unique.values()].slice(0, count);
  }

  /** All pages of that name; where its signs tell it from others, of exactly that. */
  called(name: string): number[] {
    const alike = this.#byName.get(bare(name)) ?? [];
    return isSign.test(name) ? alike.filter(page => this.#names.get(page) === name) : alike;
  }

  /** Not one of a row of pages that are all called the same. */
  isTelling({ name }: Named): boolean {
    return this.called(name).length <= 3;
  }
}

const isJava = ({ host, path, name }: Named) =>
  host === 'java.test' && !/class-use|package-|module-|doc-files|index/.test(path) && /^[A-Z]\w+$/.test(name);
const isCpp = ({ host, name }: Named) => host === 'cppreference.test' && /^std::[\w:]+$/.test(name);
const isSql = ({ host, name }: Named) => host === 'postgresql.test' && wordsOf(name).length > 0;
const isProse = ({ host, name, document }: Named) =>
  host !== 'java.test' &&
  host !== 'cppreference.test' &&
  wordsOf(name).length >= 2 &&
  /^[\x20-\x7e]+$/.test(document.title);
/** Letters of another script than the Latin one, or with accents. */
const isForeign = ({ name, document }: Named) =>
  /[\u0370-\u1fff\u3040-\ud7af]/.test(name) || (!['', 'en'].includes(document.language) && /[^\x00-\x7f]/.test(name));

const methodsOf = ({ document }: Named) => document.headings.split('\n').filter(line => /^[a-z]+[A-Z]\w+$/.test(line));

/** Java pages of that class that have that method. */
const owners = (draw: Draw, name: string, method: string) =>
  draw.named
    .filter(page => isJava(page) && page.name === name && methodsOf(page).includes(method))
    .map(page => page.document.page);

const pick = <T>(list: readonly T[], salt: string): T => list[Math.floor(chance(salt) * list.length)]!;

function java(draw: Draw): Draft[] {
  const owning = draw.some('java', 40, page => isJava(page) && methodsOf(page).length > 0);
  const written = [
    (name: string, method: string) => `${name}.${method}`,
    (name: string, method: string) => `${name}.${method}()`,
    (name: string, method: string) => `${name}#${method}`,
    (name: string, method: string) => `${name} ${method}`,
  ];
  const methods = owning.map((page, at): Draft => {
    const method = pick(methodsOf(page), page.document.url);
    return [written[at % 4]!(page.name, method), owners(draw, page.name, method)];
  });
  const whole = draw.some('package', 15, isJava).map((page): Draft => {
    const name = page.path.split('/').slice(2).join('.').replace('.html', '');
    return [name, [page.document.page]];
  });
  return [...methods, ...whole];
}

const cpp: Rule = draw =>
  draw.some('cpp', 45, isCpp).map(({ name }, at) => {
    const forms = [name, name.replace('std::', ''), name.replaceAll('basic_', ''), name.replaceAll('::', ' ')];
    return [forms[at % 4]!, draw.called(name)];
  });

function symbols(draw: Draw): Draft[] {
  const operators = draw.some(
    'operator',
    18,
    ({ host, name }) => host === 'cppreference.test' && /operator\W/.test(name),
  );
  const headers = draw.some('header', 12, ({ name }) => /^Standard library header <\w/.test(name));
  const generic = draw.some(
    'generic',
    8,
    page => isJava(page) && /^(Class|Interface) \w+<\w(, ?\w)*>/.test(page.document.headings),
  );
  const marked = draw.some(
    'annotation',
    6,
    page => isJava(page) && /^Annotation Interface/.test(page.document.headings),
  );
  const dated = draw.some('dated', 6, ({ name }) => /^C\+\+\d\d$/.test(name));
  return [
    ...operators.map(({ name }, at): Draft => {
      const first = name.replace(/,[^(]*/, '');
      return [at % 2 === 0 ? first : first.replace(/^std::/, '').replace('::', ' '), draw.called(name)];
    }),
    ...headers.map(({ name }, at): Draft => [(at % 2 ? '#include ' : '') + /<.*>/.exec(name)![0], draw.called(name)]),
    ...generic.map(
      ({ document, name }): Draft => [/\w+<[^>]*>/.exec(document.headings)![0].replaceAll(' ', ''), draw.called(name)],
    ),
    ...marked.map(({ name }): Draft => [`@${name}`, draw.called(name)]),
    ...dated.map(({ name }): Draft => [name, draw.called(name)]),
  ];
}

const several = (page: Named) => isJava(page) && parts(page.name).length > 1 && parts(page.name).join('') === page.name;
const split: Rule = draw =>
  draw.some('split', 50, several).map(({ name }) => [parts(name).join(' ').toLowerCase(), draw.called(name)]);

function joined(draw: Draw): Draft[] {
  const lower = draw.some('joined', 20, several).map(({ name }): Draft => [name.toLowerCase(), draw.called(name)]);
  const snake = draw.some('camel', 20, page => isCpp(page) && /^std::[a-z]+_[a-z_]+$/.test(page.name));
  const camel = snake.map(({ name }, at): Draft => {
    const pieces = name.replace('std::', '').split('_');
    const humps = pieces.map(piece => piece[0]!.toUpperCase() + piece.slice(1)).join('');
    return [at % 2 === 0 ? humps : pieces.join(''), draw.called(name)];
  });
  return [...lower, ...camel];
}

function snake(draw: Draw): Draft[] {
  const whole = (name: string) => name.replace(/^std::/, '');
  const isSnake = (page: Named) => (isCpp(page) || isSql(page)) && /^[a-z]+_[a-z_]+$/.test(whole(page.name));
  return draw
    .some('snake', 45, isSnake)
    .map(({ name }, at) => [at % 3 === 2 ? whole(name).replaceAll('_', ' ') : whole(name), draw.called(name)]);
}

/** One mistake in a word: two letters swapped, one left out, one doubled, one that is another. Never in the first letter. */
function misspell(word: string): string {
  const at = 1 + Math.floor(chance(`at${word}`) * (word.length - 2));
  const [before, after] = [word.slice(0, at), word.slice(at)];
  const other = 'aeiounrtsl'.replaceAll(after[0]!, '');
  return pick(
    [
      before + after[1] + after[0] + after.slice(2),
      before + after.slice(1),
      before + after[0] + after,
      before + pick([...other], word) + after.slice(1),
    ].filter(made => made !== word),
    `how${word}`,
  );
}

function misspelt(draw: Draw): Draft[] {
  const longest = (words: readonly string[]) => words.toSorted((a, b) => b.length - a.length)[0]!;
  const wrong = ({ name }: Named): Draft => {
    const words = wordsOf(name).slice(0, 6);
    const one = longest(words);
    return [words.map(word => (word === one ? misspell(word) : word)).join(' '), draw.called(name)];
  };
  const long = ({ name }: Named) => wordsOf(name).some(word => /^[a-z]{6,}$/.test(word)) && wordsOf(name).length <= 6;
  const names = draw.some('name', 14, page => isJava(page) && page.name.length >= 8 && page.name.length <= 22);
  const snakes = draw.some('snakes', 12, page => isCpp(page) && /^std::[a-z]+_[a-z_]+$/.test(page.name));
  return [
    ...draw.some('misspelt', 34, page => isProse(page) && long(page)).map(wrong),
    ...names.map(({ name }): Draft => [misspell(name.toLowerCase()), draw.called(name)]),
    ...snakes.map(({ name }): Draft => {
      const pieces = name.replace('std::', '').split('_');
      const one = longest(pieces);
      return [
        pieces.map(piece => (piece === one && one.length > 3 ? misspell(piece) : piece)).join('_'),
        draw.called(name),
      ];
    }),
  ];
}

/** The last word as far as it is typed: half of it, three letters at least. */
const half = (text: string) =>
  text.replace(/[\p{L}\p{N}]+$/u, word => word.slice(0, Math.max(3, Math.ceil(word.length / 2))));

function halfTyped(draw: Draw): Draft[] {
  const short = (page: Named) =>
    isProse(page) && wordsOf(page.name).length <= 5 && wordsOf(page.name).at(-1)!.length > 4;
  return [
    ...draw.some('half', 30, short).map(({ name }): Draft => [half(wordsOf(name).join(' ')), draw.called(name)]),
    ...draw
      .some('half class', 15, page => isJava(page) && page.name.length > 8)
      .map(({ name }): Draft => [name.slice(0, Math.ceil(name.length * 0.75)), startingWith(draw, name)]),
    ...draw.some('half std', 10, isCpp).map(({ name }): Draft => [name.slice(0, -2), startingWith(draw, name)]),
  ];
}

/** Where only a beginning is typed, all names are right that it can become by at most as many letters more. */
function startingWith(draw: Draw, name: string): number[] {
  const typed = name.startsWith('std::') ? name.slice(0, -2) : name.slice(0, Math.ceil(name.length * 0.75));
  return draw.named
    .filter(page => (isJava(page) || isCpp(page)) && page.name.startsWith(typed) && page.name.length <= name.length)
    .map(page => page.document.page);
}

function questions(draw: Draw): Draft[] {
  const asked = ['how do I use', 'what is', 'how does', 'where can I find', 'how to', 'what are the'];
  const isTopic = (page: Named) => isProse(page) && wordsOf(page.name).length <= 6;
  return draw.some('questions', 50, isTopic).map(({ name }, at) => {
    const end = asked[at % asked.length] === 'how does' ? ' work' : '';
    return [`${asked[at % asked.length]} ${wordsOf(name).join(' ')}${end}${at % 2 ? '?' : ''}`, draw.called(name)];
  });
}

/** Six words in a row from the middle of a page's prose, and all pages that have them so. */
function phrases(draw: Draw): Draft[] {
  const lines = (page: Named) =>
    page.document.text
      .split('\n')
      .filter(line => line.length > 120 && /^[A-Z][\x20-\x7e]+$/.test(line) && !line.includes('"'));
  const pages = draw.some('phrases', 50, page => !/class-use/.test(page.path) && lines(page).length > 2);
  const runs = pages.map(page => {
    const words = pick(lines(page), page.document.url).split(' ');
    const from = Math.floor(chance(page.document.url) * (words.length - 7));
    return words
      .slice(from, from + 6)
      .join(' ')
      .replaceAll(/[()|*]/g, ' ');
  });
  const having: number[][] = runs.map(() => []);
  const keys = runs.map(run => bare(run));
  for (const { document } of draw.named) {
    const text = bare(document.text);
    keys.forEach((key, at) => {
      if (text.includes(key)) having[at]!.push(document.page);
    });
  }
  return runs.map((run, at): Draft => [at % 2 === 0 ? `"${run}"` : keys[at]!, having[at]!]);
}

function foreign(draw: Draw): Draft[] {
  return draw.some('foreign', 45, isForeign).map(({ name }, at) => {
    const dense = /[\u3040-\u30ff\u4e00-\u9fff]/.test(name);
    const words = wordsOf(name);
    if (dense && at % 2 === 0) return [name.replaceAll(/\s/g, ''), draw.called(name)];
    return [words.join(' '), draw.called(name)];
  });
}

const titles: Rule = draw =>
  draw
    .some('titles', 55, ({ name }) => wordsOf(name).length >= 2)
    .map(({ document, name }) => [bare(document.title), draw.called(name)]);

/** A heading inside a page, which no page has as its title. */
const sections: Rule = draw =>
  draw
    .some('sections', 40, page => isProse(page) && headingsIn(page).length > 0)
    .map(page => {
      const heading = pick(headingsIn(page), page.document.url);
      const same = draw.named.filter(({ document }) => document.headings.split('\n').includes(heading));
      return [
        wordsOf(heading.replace(/^[A-Z]?\d*(?:\.\d+)*\. /, '')).join(' '),
        same.map(({ document }) => document.page),
      ];
    });

const headingsIn = ({ document, name }: Named) =>
  document.headings.split('\n').filter(line => {
    const count = wordsOf(line).length;
    return (
      count >= 3 &&
      count <= 8 &&
      /^[\x20-\x7e]+$/.test(line) &&
      !bare(name).includes(bare(line)) &&
      !bare(line).includes(bare(name))
    );
  });

const rules: Readonly<Record<string, Rule>> = {
  'Java APIs': java,
  'C++ APIs': cpp,
  symbols,
  'CamelCase, split': split,
  'CamelCase, joined': joined,
  snake_case: snake,
  misspelt,
  'half-typed': halfTyped,
  questions,
  phrases,
  sections,
  'other languages': foreign,
  titles,
};

export function knownItems(documents: readonly SearchDocument[]): KnownItem[] {
  const draw = new Draw(documents);
  return Object.entries(rules).flatMap(([kind, rule]) => {
    const drafts = new Map(rule(draw).map(([query, pages]) => [query.slice(0, 300), new Set(pages)]));
    return [...drafts]
      .filter(([query, pages]) => query !== '' && pages.size > 0)
      .map(([query, pages]) => ({ kind, query, pages, heldOut: chance(`half${kind}${query}`) < 0.5 }));
  });
}
