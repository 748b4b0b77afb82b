/**
 * Who may be connected to. Public addresses always; private, loopback and link-local ones only where the user named that
 * very server by its address, or opened them all. Every request asks here with the URL that it is for, whatever led to
 * it: a page, robots.txt, a hop of a redirect, a sitemap, an image. The answer holds for that URL's own server and for
 * no other, so that no site can send us to a machine that the user did not name. The dialler then checks the very address
 * that it connects to (fetch/dial.ts).
 */
import { originOf } from '../../base/url.ts';
import type { ServerTerms } from '../../errand/errand.ts';

/** Whether a request for `url`, made in an errand about `server`, may open a private address. */
export function opensPrivate(
  server: Pick<ServerTerms, 'origin' | 'allowPrivate' | 'anyPrivate'>,
  url: string,
): boolean {
  return server.allowPrivate && (server.anyPrivate === true || originOf(url) === server.origin);
}
