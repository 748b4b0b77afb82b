/**
 * Whether a page changed, and which stage saw it. By name: every detector is a pure function of the facts before and
 * after. Never fetches, never looks at the old body: facts are all that is known of it.
 */
import { SkeinError } from '../base/errors.ts';
import type { Facts } from '../errand/facts.ts';
import type { Change } from './stages.ts';

/** What the server said of the two versions. */
export interface Validators {
  /** Last-Modified as the server wrote it. */
  readonly before?: string;
  readonly after?: string;
}

type Detector = (before: Facts, after: Facts, validators: Validators) => Change;

const unchanged = (stage: Change['stage']): Change => ({ changed: false, stage, where: [] });

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const detectors: Readonly<Record<string, Detector>> = {
  raw: (before, after) => ({ changed: !sameBytes(before.raw, after.raw), stage: 'raw', where: [] }),
  content: (before, after) => {
    if (sameBytes(before.raw, after.raw)) return unchanged('raw');
    return { changed: !sameBytes(before.content, after.content), stage: 'content', where: [] };
  },
};

export const detectorNames: readonly string[] = Object.keys(detectors);

/** `before` is undefined when nothing was known: everything is new then. */
export function compare(
  detector: string,
  before: Facts | undefined,
  after: Facts,
  validators: Validators = {},
): Change {
  const detect = detectors[detector];
  if (!detect) {
    throw new SkeinError('bad-option', `no detector is called ${detector}`, `Choose from ${detectorNames.join(', ')}.`);
  }
  return before === undefined ? { changed: true, stage: 'first', where: [] } : detect(before, after, validators);
}
