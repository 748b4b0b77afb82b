/**
 * What a lively site answers, without a server: each page at a moment, and what is true of each answer. lively.ts serves it.
 */
import { hashOf, hashText } from '../random.ts';
import type { Look, Part, Place } from './part.ts';
import { type PagePlan, planOf } from './plan.ts';

/** One answer, and what is true of it. */
export interface Serving {
  /** By the clock of the site. */
  readonly time: number;
  /** What a reader must be told of: it changed when this did. */
  readonly news: string;
  /** By name, what it shares with the other pages of its section. */
  readonly shared: ReadonlyMap<string, string>;
  /** What a stored copy of this answer holds. */
  readonly seen: readonly string[];
}

export interface LivelyPage {
  readonly url: string;
  /** What is on it of its own, for messages. */
  readonly names: readonly string[];
  /** How many parts of its own it has that differ at every look. */
  readonly noises: number;
  /** It has what each build makes anew on all pages. */
  readonly built: boolean;
}

/** One request for a page. */
export interface Request {
  readonly plan: PagePlan;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Requests for this page before this one. */
  readonly count: number;
}

/** All answers of a site in the order of its requests. */
export class Script {
  readonly plans: readonly PagePlan[];
  readonly #seed: number;
  readonly #start: number;
  #turn = 0;
  #round = 0;
  readonly #served = new Map<string, Serving[]>();

  /** `start`: when the site was opened, milliseconds since 1970. */
  constructor(seed: number, start: number, plans: readonly PagePlan[] = planOf(seed)) {
    this.#seed = seed;
    this.#start = start;
    this.plans = plans;
  }

  pages(origin: string): LivelyPage[] {
    return this.plans.map(({ path, parts }) => ({
      url: origin + path,
      names: parts.filter(({ truth }) => truth !== 'shared').map(({ name }) => name),
      noises: parts.filter(part => (part.truth === 'noise' && !part.everywhere) || part.noisy).length,
      built: parts.some(part => part.everywhere === 'build'),
    }));
  }

  /** Half of those that could have a true ETag have one. */
  isSteady({ path, parts }: PagePlan): boolean {
    return parts.every(({ truth }) => truth !== 'noise') && hashOf(this.#seed, hashText(path)) % 2 === 0;
  }

  answer({ plan, time, count }: Request): string {
    const known = this.#served.get(plan.path) ?? [];
    const look: Look = {
      ...{ time: time - this.#start, turn: this.#turn++, count },
      ...{ round: this.#round, again: known.length },
    };
    this.#served.set(plan.path, [...known, servingOf(plan, look, time)]);
    return pageOf(plan, look);
  }

  /** Answers from now on belong to a new round. */
  beginRound(): void {
    this.#round++;
    this.#served.clear();
  }

  /** What the round's requests for it were answered with, oldest first. */
  served(path: string): readonly Serving[] {
    return this.#served.get(path) ?? [];
  }
}

function servingOf({ parts }: PagePlan, look: Look, time: number): Serving {
  const own = parts.filter(({ truth }) => truth === 'news');
  const shared = parts.filter(part => part.truth === 'shared' || part.shared);
  return {
    time,
    news: own.map(part => part.news?.(look) ?? part.html(look)).join('\n'),
    shared: new Map(shared.map(part => [part.name, part.shared?.(look) ?? part.html(look)])),
    seen: parts.filter(({ seen }) => seen).map(part => part.held?.(look) ?? part.html(look)),
  };
}

function pageOf({ title, parts, prose }: PagePlan, look: Look): string {
  const at = (place: Place): Part[] => parts.filter(part => part.place === place);
  const all = (place: Place): string =>
    at(place)
      .map(part => part.html(look))
      .join('\n');
  const main = at('main').map((part, index) => `${paragraphOf(prose[index])}${part.html(look)}`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${all('title') || title}</title>
${all('head')}
</head><body>
<header><nav><ul><li><a href="/">Front</a></li></ul>${all('menu')}</nav></header>
<main><h1>${title}</h1>
${main.join('\n')}
${paragraphOf(prose.at(-1))}
</main>
<aside>${all('aside')}</aside>
<footer><p>End of page</p>${all('footer')}</footer>
</body></html>
`;
}

const paragraphOf = (text: string | undefined): string => (text ? `<p>${text}</p>\n` : '');
