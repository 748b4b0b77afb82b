/** An errand with nothing special about it; a test says only what matters to it. */
import type { Errand, ServerTerms } from '../../src/errand/errand.ts';
import type { Known } from '../../src/errand/known.ts';
import { keepAll } from '../../src/errand/scope/keep.ts';

type Special = Partial<Omit<Errand, 'id' | 'server'>> & { readonly server?: Partial<ServerTerms> };

export function plainErrand(id: string, origin: string, { server, ...special }: Special = {}): Errand {
  return {
    id,
    kind: 'refresh',
    server: {
      ...{ origin, pace: 0, connections: 1, notBefore: 0, allowPrivate: false, auditShare: 0, trustValidators: true },
      ...server,
    },
    pages: [],
    scope: { domains: [], include: [], exclude: [], focus: [], keep: keepAll },
    limits: { pages: 1000, follow: 0, depth: 100, bodyBytes: 1 << 24, time: 1e6 },
    levels: 0,
    detector: 'content',
    deadline: Date.now() + 1e6,
    ...special,
  };
}

/** A page of which nothing is known. */
export function plainPage(url: string): Known {
  return { url, role: 'page', depth: 0, hops: 0, tries: 0 };
}
