/**
 * How far we trust the validators of a server: its 304 answers, and its dates of last change. Both are measured, never
 * assumed. Some 304s are audited with a full GET (the crawler does that; this says how many), and every body that comes is
 * compared with the validators that came with it.
 */
import { DAY } from '../../base/clock.ts';
import type { ServerTerms } from '../../errand/errand.ts';
import type { Visit } from '../../errand/visit.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';

/** Share of 304s to audit at a server that is new, and at one that was always right. */
const FIRST_SHARE = 0.1;
const LEAST_SHARE = 0.002;
/** Audits after which the share has fallen to a half. */
const HALVED_AFTER = 10;
/** Lies above this share end the trust. */
const MOST_LIES = 0.01;
/** Beyond this many cases older ones count half, so that a server can lose its reputation and win it back. */
const MEMORY = 500;
const ENOUGH_DATES = 5;
const MOST_WRONG_DATES = 0.05;

export function trustTerms(server: Server): Pick<ServerTerms, 'auditShare' | 'trustValidators'> {
  return {
    auditShare: Math.max(LEAST_SHARE, FIRST_SHARE / (1 + server.audits / HALVED_AFTER)),
    trustValidators: server.lies <= server.audits * MOST_LIES,
  };
}

/** Counts what the visit proves. True when the server's row has to be saved. */
export function learnTrust(server: Server, visit: Visit, before: KnownRow | undefined): boolean {
  if (!before || visit.status !== 200 || (visit.outcome !== 'fetched' && visit.outcome !== 'same')) return false;
  const changed = visit.outcome === 'fetched';
  const audited = visit.cost.cause === 'audit';
  // When we no longer send validators, a body that comes with the old validator is as good as an audit.
  const proof = audited || (!trustTerms(server).trustValidators && sameValidator(visit, before));
  if (proof) {
    server.audits++;
    if (changed && (audited ? visit.reason === 'validator-lied' : true)) server.lies++;
    if (server.audits > MEMORY) {
      server.audits /= 2;
      server.lies /= 2;
    }
  }
  return learnDates(server, visit, before) || proof;
}

function sameValidator(visit: Visit, before: KnownRow): boolean {
  if (visit.etag !== undefined) return before.etag?.split(', ').includes(visit.etag) ?? false;
  return visit.lastModified !== undefined && visit.lastModified === before.last_modified;
}

/** A date is right when it moves with the content and stays with it. */
function learnDates(server: Server, visit: Visit, before: KnownRow): boolean {
  if (visit.lastModified === undefined || before.last_modified === null) return false;
  const moved = visit.lastModified !== before.last_modified;
  server.dates++;
  if (moved !== (visit.outcome === 'fetched')) server.wrongDates++;
  if (server.dates > MEMORY) {
    server.dates /= 2;
    server.wrongDates /= 2;
  }
  return true;
}

/** Days since the page changed, by its Last-Modified; only of servers whose dates have proved right. */
export function lastChangeAge(server: Server, visit: Visit): number | undefined {
  if (server.dates < ENOUGH_DATES || server.wrongDates > server.dates * MOST_WRONG_DATES) return undefined;
  const date = Date.parse(visit.lastModified ?? '');
  return Number.isNaN(date) ? undefined : (visit.time - date) / DAY;
}
