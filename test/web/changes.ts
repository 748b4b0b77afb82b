/** When a page changes: a Poisson process of known rate, made from the seed, extended as far as anyone asks. */
import { DAY } from '../../src/base/clock.ts';
import { exponential, mix, share } from './random.ts';
import type { ContentChange } from './site.ts';

export interface History {
  version(time: number): number;
  changes(from: number, to: number): readonly ContentChange[];
  /** Change number `version`, counted from 1. */
  change(version: number): ContentChange;
  /** Time of the newest change at `time`; the start if there was none. */
  modified(time: number): number;
}

/** `kinds` are those that this page can undergo: a page without images never changes one. */
export function history(
  hash: number,
  start: number,
  rate: number,
  kinds: readonly ContentChange['kind'][] = ['text'],
): History {
  const known: ContentChange[] = [];
  let reached = start;

  const extend = (time: number): void => {
    if (rate <= 0) return;
    while (reached <= time) {
      const version = known.length + 1;
      const h = mix(hash, version);
      // Changes land on whole seconds, because HTTP dates cannot tell finer times apart.
      const gap = Math.max(1000, Math.ceil(exponential(DAY / rate, h) / 1000) * 1000);
      reached += gap;
      known.push({ time: reached, version, kind: kindOf(kinds, h) });
    }
  };
  const version = (time: number): number => {
    extend(time);
    let low = 0;
    let high = known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (known[middle]!.time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    version,
    changes: (from, to) => known.slice(version(from), Math.max(version(to), version(from))),
    change: number => known[number - 1]!,
    modified: time => (version(time) === 0 ? start : known[version(time) - 1]!.time),
  };
}

/** Three in five are plain text; the rest are shared evenly. */
function kindOf(kinds: readonly ContentChange['kind'][], hash: number): ContentChange['kind'] {
  const dice = share(mix(hash, 77));
  if (dice < 0.6 || kinds.length === 1) return kinds[0]!;
  return kinds[1 + Math.floor(((dice - 0.6) / 0.4) * (kinds.length - 1))]!;
}
