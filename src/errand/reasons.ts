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
  'not-modified': reason('the server said that it has not changed'),
  'validator-lied': reason('the server said that it has not changed, but it has'),
  unchanged: reason('fetched, and the content is the same'),
  watched: reason('only its headers were asked for, and they do not say that it changed'),
  unwatchable: reason('an image of which its server tells nothing without sending it'),
  redirect: reason('it redirects to another URL'),
  'redirect-loop': reason('it redirects to itself, or too often in a row'),
  'http-404': reason('the server has no such page'),
  'http-410': reason('the server says that the page is gone for good'),
  'soft-404': reason('the server answers 200 with its not-found page'),
  'http-4xx': reason('the server refuses the request'),
  'http-429': reason('the server asks for fewer requests', 5, 2, true),
  'http-503': reason('the server is overloaded or in maintenance', 4, 5, true),
  'http-5xx': reason('the server failed', 3, 10),
  'http-odd': reason('a status that makes no sense for a page, or a redirect to what is no page'),
  dns: reason('the host name does not resolve', 2, 60, true),
  'connect-refused': reason('nothing listens there', 3, 10, true),
  'connect-timeout': reason('no connection within the limit', 3, 10, true),
  'no-socket': reason('this machine could open no more connections; the server was not asked', 3, 2),
  'tls-failed': reason('the TLS handshake failed', 1, 60, true),
  'first-byte-timeout': reason('connected, but no answer within the limit', 3, 10),
  'body-timeout': reason('the body came too slowly', 2, 10),
  reset: reason('the connection broke before the answer was complete', 3, 2),
  'bad-answer': reason('the answer is not HTTP', 1, 60),
  'bad-coding': reason('the body does not decode as its Content-Encoding says', 1, 60),
  bomb: reason('the body grows beyond the limit when decompressed'),
  robots: reason('robots.txt disallows it'),
  'robots-unreachable': reason('robots.txt cannot be read, so nothing may be fetched', 4, 30, true),
  'private-address': reason('its address is private, loopback or link-local, which --allow-private opens'),
  'bad-url': reason('not a URL that can be fetched'),
  'too-deep': reason('more links away from its seed than the depth limit'),
  'too-long': reason('the URL is longer than the limit'),
  'too-many-parameters': reason('the URL has more parameters than the limit'),
  'repeated-path': reason('the path repeats itself: a trap'),
  'too-many-on-server': reason('the server has more pages than the cap'),
  'near-identical': reason('too many near-identical pages of this shape: a trap'),
  removed: reason('a seed that a user removed'),
  forgotten: reason('a user had it forgotten; "skein forget --allow" lets it come back'),
  'out-of-scope': reason('outside the domains, hosts or paths asked for'),
  elsewhere: reason('another partition of the collection has it'),
  irrelevant: reason('too far from the keywords to be followed'),
  nofollow: reason('only found through links that say nofollow'),
  filtered: reason('read for links, but not kept: the filter leaves it out'),
  'over-limit': reason('the crawl had reached its page limit'),
  skipped: reason('code of yours (--hooks) left it out'),
  decider: reason('the code that decides about pages failed on it', 1, 60),
  killed: reason('it killed the thread that read it, each time: a bug worth reporting', 1, 1440),
  crashed: reason('analysis failed on this page: a bug worth reporting', 1, 60),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;

/** One sentence for a reason's code. */
export function meaningOf(code: string): string {
  return reasons[code as ReasonCode]?.means ?? code;
}

/** Codes after which the whole server waits: it could not be asked, or did not answer. */
export const serverTroubles: readonly string[] = Object.entries(reasons).flatMap(([code, each]) =>
  each.server ? [code] : [],
);

/** A visit that went wrong: it failed, or was not even tried because its server cannot be reached. */
export function isError({ outcome, reason: code }: { readonly outcome: string; readonly reason: string }): boolean {
  return outcome === 'failed' || (outcome === 'refused' && serverTroubles.includes(code));
}
