/** What every kind of noise says of itself. */
import type { Look, Place } from './part.ts';

/** `fresh` differs at each request. */
export type Show = (fresh: number, look: Look, fixed: number) => string;

export interface NoiseKind {
  readonly place: Place;
  readonly seen: boolean;
  readonly show: Show;
}

export const visible = (show: Show, place: Place = 'main'): NoiseKind => ({ place, seen: true, show });
export const hidden = (show: Show, place: Place = 'main'): NoiseKind => ({ place, seen: false, show });
