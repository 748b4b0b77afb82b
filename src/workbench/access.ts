/**
 * Who may ask, and for what. On loopback anyone on this machine may look; only who holds the token may change
 * something. Elsewhere nobody gets anything without the token. A page of another site in the same browser gets nothing
 * in either case: names that are not ours are refused (rebinding), the cookie is never sent across sites, and a change
 * needs a header that such a page cannot add without being asked first, which is answered with no.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sameToken } from '../home/door.ts';

export interface Access {
  readonly token: string;
  readonly port: number;
  /** Not on loopback: TLS, and the token for everything. */
  readonly open: boolean;
}

const COOKIE_DAYS = 30;

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html',
].join('; ');

/** Headers of every answer; a route may put a stricter policy in place of the page's. */
export const headers: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers: set } = context.res;
  if (!set.has('content-security-policy')) set.set('content-security-policy', PAGE_POLICY);
  set.set('x-content-type-options', 'nosniff');
  set.set('referrer-policy', 'no-referrer');
  set.set('cross-origin-opener-policy', 'same-origin');
  set.set('cross-origin-resource-policy', 'same-origin');
  if (!set.has('cache-control')) set.set('cache-control', 'no-store');
};

/** Cookies do not know ports, so each workbench of a machine has its own name. */
const cookieName = ({ port }: Access) => `skein-${port}`;

export function holdsToken(context: Context, access: Access): boolean {
  const bearer = context.req.header('authorization');
  if (bearer !== undefined) return sameToken(bearer, `Bearer ${access.token}`);
  return sameToken(getCookie(context, cookieName(access)) ?? '', access.token);
}

/** A change: the token, and from a browser also our own header and our own origin. */
export function mayChange(context: Context, access: Access): boolean {
  if (!holdsToken(context, access)) return false;
  if (context.req.header('authorization') !== undefined) return true;
  const site = context.req.header('sec-fetch-site');
  const origin = context.req.header('origin');
  const host = context.req.header('host') ?? '';
  const own = origin === undefined || origin === `${access.open ? 'https' : 'http'}://${host}`;
  return context.req.header('x-skein') === '1' && own && (site === undefined || site === 'same-origin');
}

/** Refuses foreign names, takes the token out of the address, and closes the door where it must be closed. */
export function gate(access: Access): MiddlewareHandler {
  const names = new Set(['127.0.0.1', 'localhost', '[::1]'].map(name => `${name}:${access.port}`));
  return async (context, next) => {
    if (!access.open && !names.has(context.req.header('host') ?? '')) {
      return context.json({ code: 'refused', error: 'This workbench answers to its own name only.' }, 421);
    }
    const given = context.req.query('token');
    if (context.req.path === '/' && given !== undefined) {
      if (!sameToken(given, access.token)) return context.text('The token is not the one of this workbench.', 403);
      setCookie(context, cookieName(access), access.token, {
        httpOnly: true,
        sameSite: 'Strict',
        secure: access.open,
        path: '/',
        maxAge: COOKIE_DAYS * 86_400,
      });
      return context.redirect('/');
    }
    if (access.open && !holdsToken(context, access)) {
      return context.text('Open the address that skein printed: it holds the token.', 401);
    }
    return next();
  };
}
