/** Which parts stand on which page of a lively site: all kinds of news in all rhythms, noise of all kinds, edit waves. */
import { hashOf, mix, pick, share } from '../random.ts';
import { paragraph, title } from '../words.ts';
import { adversaries } from './adversaries.ts';
import { everywhere } from './everywhere.ts';
import { changingTitle, kindNames, news, sharedPart } from './news.ts';
import { noise, noiseNames } from './noise.ts';
import { type Part, type Place, type Rhythm, rhythms } from './part.ts';
import { sceneOf } from './scenes.ts';

export interface PagePlan {
  readonly path: string;
  readonly title: string;
  readonly parts: readonly Part[];
  /** Prose between the parts of the main text; empty where they stand next to each other. */
  readonly prose: readonly string[];
}

const SECTIONS = 4;
const SLOW: readonly Rhythm[] = rhythms.filter(rhythm => !['request', 'second', 'never'].includes(rhythm));

/** Two ordinary pages for each kind of news, as many without any, and those of the adversaries. */
export function planOf(seed: number, noises: keyof typeof noiseNames = 'usual'): PagePlan[] {
  const names = noiseNames[noises];
  const shared = Array.from({ length: SECTIONS }, (_, section) => sharedParts(seed, section));
  const spread = mix(seed, 3) % SLOW.length;
  const ordinary = [...kindNames, ...kindNames].map((kind, at): readonly Part[] => {
    const hash = hashOf(seed, 1, at);
    const rhythm = SLOW[(at + spread) % SLOW.length]!;
    return [news(kind, rhythm, hash, placeOf(hash)), ...someNoise(hash, names)];
  });
  const titled = SLOW.map((rhythm, at) => [changingTitle(rhythm, hashOf(seed, 2, at))]);
  const quiet = names.flatMap((kind, at) => [
    [noise(kind, hashOf(seed, 3, at))],
    [noise(kind, hashOf(seed, 4, at)), ...someNoise(hashOf(seed, 5, at), names)],
  ]);
  const loose = [...ordinary, ...titled, ...quiet].map((parts, at) => page(seed, at, parts, true));
  const tight = adversaries(seed)
    .flatMap(adversary => adversary.pages)
    .map((parts, at) => page(seed, loose.length + at, parts, false));
  const site = noises === 'hard' ? everywhere(seed) : () => [];
  return [...loose, ...tight].map((plan, at) => ({
    ...plan,
    parts: [...plan.parts, ...site(hashOf(seed, 10, at)), ...shared[at % SECTIONS]!],
  }));
}

function page(seed: number, at: number, parts: readonly Part[], withProse: boolean): PagePlan {
  const hash = hashOf(seed, 6, at);
  const prose = parts.map((_, part) => (withProse && part !== 1 ? paragraph(hashOf(hash, part)) : ''));
  return {
    path: `/${'abcd'[at % SECTIONS]}/${at}.html`,
    title: title(hash),
    parts,
    prose: [...prose, paragraph(hash)],
  };
}

/** News in a footer or beside the text is news of the page, where no other page has it. */
function placeOf(hash: number): Place {
  const dice = share(mix(hash, 5));
  if (dice < 0.1) return 'footer';
  return dice < 0.2 ? 'aside' : 'main';
}

/** None, one or two kinds. */
function someNoise(hash: number, names: readonly string[]): Part[] {
  const count = mix(hash, 6) % 3;
  return Array.from({ length: count }, (_, at) => noise(pick(names, hashOf(hash, 7, at)), hashOf(hash, 8, at)));
}

/** What all pages of a section have: a menu, a line with a version, a footer, each with its own time to change. */
function sharedParts(seed: number, section: number): Part[] {
  const hash = hashOf(seed, 9, section);
  const parts = [
    sharedPart('next link', 'once', mix(hash, 1), 'menu'),
    sharedPart('paragraph', 'once', mix(hash, 2), 'footer'),
  ];
  if (section % 2 === 0) parts.push(sharedPart('version', 'week', mix(hash, 3), 'footer'));
  if (section === 1) parts.push(sharedPart('status', 'swing', mix(hash, 4), 'menu'));
  return parts;
}

/** One scene alone, or all of them on one site. */
export function scenePlan(seed: number, names: readonly string[]): PagePlan[] {
  const pages = names.flatMap(name => sceneOf(name, seed).pages);
  return pages.map((parts, at) => page(seed, at, parts, false));
}
