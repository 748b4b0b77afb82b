/**
 * Which page of the errand comes next. First those it names, in order; then, while the errand allows to follow links,
 * those found on the way, breadth first and inside the server (the papers' vectortosearch and vectormatches).
 */
import { originOf } from '../base/url.ts';
import type { Errand } from '../errand/errand.ts';
import type { Known } from '../errand/known.ts';
import { LINK_NOFOLLOW, type Visit } from '../errand/visit.ts';

export interface Agenda {
  next(): Known | undefined;
  /** Takes the links of a visit into account. */
  learn(visit: Visit): void;
  /** Nothing more is to be visited. */
  end(): void;
}

export function makeAgenda(errand: Errand): Agenda {
  const { limits } = errand;
  const toSearch: { known: Known; level: number }[] = errand.pages.map(known => ({ known, level: 0 }));
  if (limits.follow === 0) return named(toSearch, limits.pages);
  const matches = new Set(errand.pages.map(known => known.url));
  const levels = new Map<string, number>();
  let at = 0;
  return {
    next() {
      if (at >= limits.pages) return undefined;
      const entry = toSearch[at];
      if (!entry) return undefined;
      at++;
      levels.set(entry.known.url, entry.level);
      return entry.known;
    },
    learn(visit) {
      const level = (levels.get(visit.url) ?? 0) + 1;
      levels.delete(visit.url);
      if (level > limits.follow || visit.depth >= limits.depth || !visit.links || visit.page?.nofollow) return;
      const urls = Buffer.from(visit.links.urls).toString().split('\n');
      for (let i = 0; i < visit.links.count; i++) {
        const url = urls[i]!;
        if (visit.links.flags[i]! & LINK_NOFOLLOW || originOf(url) !== errand.server.origin || matches.has(url))
          continue;
        matches.add(url);
        toSearch.push({ known: { url, role: 'page', depth: visit.depth + 1, hops: 0, tries: 0 }, level });
      }
    },
    end() {
      at = Number.POSITIVE_INFINITY;
    },
  };
}

function named(list: { known: Known }[], most: number): Agenda {
  let at = 0;
  return {
    next: () => (at < most ? list[at++]?.known : undefined),
    learn: () => {},
    end() {
      at = Number.POSITIVE_INFINITY;
    },
  };
}
