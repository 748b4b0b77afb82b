/**
 * How much of this machine, and of its good name, one errand may use at most, whatever it says. The owner sets it, at
 * the start or later; home's own wishes count only below it.
 */
import type { Errand } from '../../errand/errand.ts';

export interface Ceilings {
  /** Milliseconds between two requests to one server, at least. Above 0 Crawl-delay and all else of pace.ts counts. */
  readonly pace: number;
  /** Connections to one server. */
  readonly connections: number;
  /** Bytes of one page. */
  readonly bodyBytes: number;
  /** Bytes of all pages that are on their way at once. */
  readonly memory: number;
  /** Errands under way. */
  readonly errands: number;
}

export const CEILINGS: Ceilings = { pace: 100, connections: 8, bodyBytes: 32e6, memory: 512e6, errands: 4096 };

/** Where whoever sends errands could do all this by logging in. */
export const OWN_MACHINE: Ceilings = {
  pace: 0,
  connections: 1024,
  bodyBytes: 2 ** 30,
  memory: 2 ** 32,
  errands: 2 ** 20,
};

/** The errand below the ceilings. */
export function below(errand: Errand, { pace, connections, bodyBytes }: Ceilings): Errand {
  const { server, limits } = errand;
  return {
    ...errand,
    server: {
      ...server,
      pace: Math.max(pace, server.pace),
      connections: Math.max(1, Math.min(connections, server.connections)),
    },
    limits: { ...limits, bodyBytes: Math.min(bodyBytes, limits.bodyBytes) },
  };
}
