/**
 * Whether a page changed, and which stage saw it. By name: every detector is a pure function of the facts before and
 * after, and stops at the first difference. Never fetches, never looks at the old body: facts are all that is known
 * of it.
 *
 * `content` is the default. It says what facts can say for certain: the same, or something that a reader sees differs. The
 * page then goes home, where it is compared with the stored copy, and where it is known what is noise on this server
 * (src/judge/). The others are the papers' own, as they are: each is blind to something, and the tests say to what.
 */
import { named } from '../../base/named.ts';
import type { Facts } from '../../errand/facts.ts';
import type { Stage } from '../../errand/visit.ts';
import type { Change } from '../stages.ts';
import { differingBlocks, differingSpots } from './blocks.ts';
import { type ImageFacts, imagesDiffer } from './image.ts';
import { changedLevels } from './structure.ts';
import { sameCode } from './text-codes.ts';

/** What is known beyond the facts; each is optional. */
export interface Beside {
  /** Last-Modified of the two versions, as the server wrote it. */
  readonly lastModified?: { readonly before?: string | undefined; readonly after?: string | undefined };
  /** The page's images, where both versions' were fetched. */
  readonly images?: { readonly before: readonly ImageFacts[]; readonly after: readonly ImageFacts[] };
}

type ChangeDetector = (before: Facts, after: Facts, beside: Beside) => Change;

const same = (stage: Stage): Change => ({ changed: false, stage, where: [] });
const differs = (stage: Stage, where: readonly number[] = []): Change => ({ changed: true, stage, where });
const decide = (changed: boolean, stage: Stage): Change => (changed ? differs(stage) : same(stage));

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const raw: ChangeDetector = (before, after) => decide(!sameBytes(before.raw, after.raw), 'raw');

/** Without a date on both sides there is nothing to compare: the page counts as changed. */
const lastModified: ChangeDetector = (_before, _after, { lastModified: dates }) =>
  decide(dates?.before === undefined || dates.before !== dates.after, 'last-modified');

/** Number of links, then number of words that are no general words. */
const counts: ChangeDetector = (before, after) =>
  before.urls !== after.urls ? differs('url-count') : decide(before.keywords !== after.keywords, 'keyword-count');

const asciiSum: ChangeDetector = (before, after) => decide(before.asciiSum !== after.asciiSum, 'ascii-sum');

const tagStringsDiffer: ChangeDetector = (before, after) =>
  decide(before.tagFirst !== after.tagFirst || before.tagLast !== after.tagLast, 'structure');

/** `where` names the levels that changed, root 1. */
const levelsDiffer: ChangeDetector = (before, after) => {
  const levels = changedLevels(before.levels, after.levels);
  return levels.length === 0 ? same('structure') : differs('structure', levels);
};

const textCodeI: ChangeDetector = (before, after) => decide(!sameCode(before.textCode1, after.textCode1), 'text');
const textCodeII: ChangeDetector = (before, after) => decide(!sameCode(before.textCode2, after.textCode2), 'text');

/**
 * By their codes where the images are at hand, else by the list of their references: in a crawl each image has visits of
 * its own, which compare its code (conclude.ts).
 */
const imageCodes: ChangeDetector = (before, after, { images }) =>
  decide(images ? imagesDiffer(images.before, images.after, 'ival') : before.imageHash !== after.imageHash, 'image');

/** The date decides where the server gives one, else the counts. */
const pmcs: ChangeDetector = (before, after, beside) => {
  const { before: old, after: now } = beside.lastModified ?? {};
  return old !== undefined && now !== undefined ? lastModified(before, after, beside) : counts(before, after, beside);
};

/** Structure, then text, then images, up to the first that differs. */
function inSteps(structure: ChangeDetector, text: ChangeDetector): ChangeDetector {
  return (before, after, beside) => {
    for (const step of [structure, text]) {
      const change = step(before, after, beside);
      if (change.changed) return change;
    }
    return imageCodes(before, after, beside);
  };
}

/** What a reader sees: text, links, structure, images. Blocks say where; stamps have a stage of their own. */
const content: ChangeDetector = (before, after, { images }) => {
  const pictures = images !== undefined && imagesDiffer(images.before, images.after);
  if (sameBytes(before.raw, after.raw) && !pictures) return same('raw');
  if (pictures && sameBytes(before.content, after.content)) return differs('image');
  if (sameBytes(before.content, after.content)) return same(looksAlike(before, after) ? 'content' : 'stamp');
  const spots = differingSpots(before.blocks, after.blocks);
  if (spots.length === 0) return differs(unseenStage(before, after));
  return differs('text', differingBlocks(spots, after.blocks));
};

/** Facts of earlier versions do not say how a page looked with its stamps. */
function looksAlike(before: Facts, after: Facts): boolean {
  return before.visible === after.visible || before.visible === 0n || after.visible === 0n;
}

/** What differs when no block of text does. */
function unseenStage(before: Facts, after: Facts): Stage {
  if (before.linkHash !== after.linkHash) return 'links';
  if (before.structure !== after.structure) return 'structure';
  return before.imageHash !== after.imageHash ? 'image' : 'content';
}

const detectors: Readonly<Record<string, ChangeDetector>> = {
  content,
  raw,
  'last-modified': lastModified,
  counts,
  'ascii-sum': asciiSum,
  'tag-strings': tagStringsDiffer,
  'level-table': levelsDiffer,
  'text-code-1': textCodeI,
  'text-code-2': textCodeII,
  'image-code': imageCodes,
  pmcs,
  'three-step': inSteps(tagStringsDiffer, textCodeI),
  'three-step-2': inSteps(levelsDiffer, textCodeII),
};

/** Those that know an image by its code instead of its bytes. */
const imageCodeDetectors: ReadonlySet<string> = new Set(['image-code', 'three-step', 'three-step-2']);

export function usesImageCodes(detector: string): boolean {
  return imageCodeDetectors.has(detector);
}

export const detectorNames: readonly string[] = Object.keys(detectors);

/** `before` is undefined when nothing was known: everything is new then. */
export function compare(detector: string, before: Facts | undefined, after: Facts, beside: Beside = {}): Change {
  const detect = named('detector', detectors, detector);
  if (before === undefined) return differs('first');
  return isHashed(before) ? byHash(before, after) : detect(before, after, beside);
}

/** Nothing but hashes is known: of a body that is no text, or of a page for which the errand carried no more. */
function isHashed({ asciiSum, textCode1, levels }: Facts): boolean {
  return asciiSum === 0 && textCode1 === 0 && levels.length === 0;
}

/** No measure can be taken of a hash, so that every detector compares it as it is. */
function byHash(before: Facts, after: Facts): Change {
  if (sameBytes(before.content, after.content)) return same('content');
  return differs(before.mainHash === 0n ? 'direct' : 'content');
}
