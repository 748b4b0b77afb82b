/**
 * Every reason a visit can carry, with what it means to a reader and what happens next. This table is the retry
 * policy: nothing is retried that is not listed with tries, and nothing is retried more often than it says.
 */
export interface Reason {
  /** One sentence for people. */
  readonly means: string;
  /** How often a page may be tried again after this, in a row; 0 = not. */
  readonly retries: number;
  /** Minutes before the first retry; doubled each time. */
  readonly after: number;
  /** The whole server waits, not only this page. */
  readonly server: boolean;
}

const reason = (means: string, retries = 0, after = 0, server = false): Reason => ({ means, retries, after, server });

export const reasons = {
  ok: reason('the page was fetched'),
  'not-modified': reason('the server says that it has not changed'),
  'validator-lied': reason('the server said that it has not changed, but it had'),
  unchanged: reason('fetched, same content'),
  watched: reason('only its headers were fetched, and they show no change'),
  unwatchable: reason('an image whose headers do not show changes'),
  redirect: reason('it redirects to another URL'),
  'redirect-loop': reason('it redirects to itself or too many times'),
  'http-404': reason('the server has no such page'),
  'http-410': reason('the server says that the page is gone for good'),
  'soft-404': reason('the server sends its not-found page with status 200'),
  'http-4xx': reason('the server refuses the request'),
  'http-429': reason('the server asks for fewer requests', 5, 2, true),
  'http-503': reason('the server is overloaded or in maintenance', 4, 5, true),
  'http-5xx': reason('the server failed', 3, 10),
  'http-odd': reason('unusable status, or a redirect to something that is not a page'),
  dns: reason('the host name does not resolve', 2, 60, true),
  'connect-refused': reason('the server refuses connections', 3, 10, true),
  'connect-timeout': reason('no connection within the time limit', 3, 10, true),
  'no-socket': reason('this machine has no free connections; the server was not contacted', 3, 2),
  'tls-failed': reason('the TLS handshake failed', 1, 60, true),
  'first-byte-timeout': reason('connected, but no answer within the time limit', 3, 10),
  'body-timeout': reason('the body arrived too slowly', 2, 10),
  reset: reason('the connection broke before the answer was complete', 3, 2),
  'bad-answer': reason('the answer is not HTTP', 1, 60),
  'bad-coding': reason('the body does not match its Content-Encoding', 1, 60),
  bomb: reason('the decompressed body exceeds the limit'),
  robots: reason('robots.txt disallows it'),
  'robots-unreachable': reason('robots.txt is unreachable, so nothing may be fetched', 4, 30, true),
  'private-address': reason('private, loopback or link-local address; --allow-private permits it'),
  'bad-url': reason('not a fetchable URL'),
  'too-deep': reason('farther from its seed than the depth limit'),
  'too-long': reason('the URL is longer than the limit'),
  'too-many-parameters': reason('the URL has more parameters than the limit'),
  'repeated-path': reason('the path repeats itself: a trap'),
  'too-many-on-server': reason('the server has more pages than the limit'),
  'near-identical': reason('too many near-identical pages of this shape: a trap'),
  removed: reason('a removed seed'),
  forgotten: reason('deleted by "skein forget"; "skein forget --allow" permits it again'),
  'out-of-scope': reason('outside the requested domains, hosts or paths'),
  elsewhere: reason('belongs to another partition'),
  irrelevant: reason('not relevant to the keywords'),
  nofollow: reason('found only through nofollow links'),
  filtered: reason('read for links, but excluded by the keep filter'),
  'over-limit': reason('the crawl had reached its page limit'),
  skipped: reason('skipped by your --hooks code'),
  decider: reason('the decider failed on this page', 1, 60),
  killed: reason('it crashed the thread every time: please report this bug', 1, 1440),
  crashed: reason('analysis failed: please report this bug', 1, 60),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;

/** Milliseconds for which a server is left alone after so many failures in a row, where it names no time itself. */
export function patienceWith({ after }: Reason, failures: number): number {
  return after * 60_000 * 2 ** (failures - 1);
}

/** One sentence for a reason's code. */
export function meaningOf(code: string): string {
  return reasons[code as ReasonCode]?.means ?? code;
}

/** By the stage that decided: what of a page was new, and is no news of its own. */
const stagesOfSame: Readonly<Record<string, string>> = {
  template: 'unchanged except for an edit shared by many pages',
  noise: 'unchanged except for noise',
  stamp: 'unchanged except for a date or similar stamp',
};

/** What a visit found, for people: a page may be the same although its bytes were not. */
export function visitMeans({ outcome, reason, stage }: VisitFound): string {
  return (outcome === 'same' && stage !== null && stagesOfSame[stage]) || meaningOf(reason);
}

interface VisitFound {
  readonly outcome: string;
  readonly reason: string;
  readonly stage: string | null;
}

/** Codes after which the whole server waits: it could not be asked, or did not answer. */
export const serverTroubles: readonly string[] = Object.entries(reasons).flatMap(([code, each]) =>
  each.server ? [code] : [],
);

/** A visit that went wrong: it failed, or was not even tried because its server cannot be reached. */
export function isError({ outcome, reason: code }: { readonly outcome: string; readonly reason: string }): boolean {
  return outcome === 'failed' || (outcome === 'refused' && serverTroubles.includes(code));
}

/** Why a page was refused, where that says nothing of it: its server, or the way there, is in trouble. */
export const passingRefusals: readonly string[] = [...serverTroubles, 'private-address'];

/** The visit says nothing of its page: it went wrong, or could not be made from here. */
export function saysNothing({ outcome, reason: code }: { readonly outcome: string; readonly reason: string }): boolean {
  return outcome === 'failed' || (outcome === 'refused' && passingRefusals.includes(code));
}
