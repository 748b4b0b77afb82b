/**
 * Who may ask, and for what. On loopback anyone on this machine may look; only who holds a token may change
 * something. Elsewhere nobody gets anything without a token. The token of whoever started the workbench may everything;
 * other users have one each, and a role: to read, to steer, or to do everything. A page of another site in the same browser gets nothing
 * in either case: names that are not ours are refused (rebinding), the cookie is never sent across sites, and a change
 * needs a header that such a page cannot add without being asked first, which is answered with no.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sameToken } from '../home/door.ts';

/** Each may what those before it may. */
export const workbenchRoles = ['read', 'steer', 'admin'] as const;
export type WorkbenchRole = (typeof workbenchRoles)[number];

export interface WorkbenchUser {
  readonly name: string;
  readonly role: WorkbenchRole;
  readonly token: string;
}

export interface WorkbenchAccess {
  /** Who started it first. */
  readonly users: readonly WorkbenchUser[];
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
const cookieName = ({ port }: WorkbenchAccess) => `skein-${port}`;

/** Whose token came with a request; undefined = nobody's. */
function userOf(context: Context, access: WorkbenchAccess): WorkbenchUser | undefined {
  const bearer = context.req.header('authorization');
  const given = bearer === undefined ? (getCookie(context, cookieName(access)) ?? '') : bearer.replace(/^Bearer /, '');
  return holderOf(given, access);
}

/** All are compared, so that the time taken tells nothing. */
function holderOf(token: string, { users }: WorkbenchAccess): WorkbenchUser | undefined {
  return users.filter(user => sameToken(token, user.token))[0];
}

export function holdsToken(context: Context, access: WorkbenchAccess): boolean {
  return userOf(context, access) !== undefined;
}

/** What the caller may; without a token, on loopback, to read. */
export function roleOf(context: Context, access: WorkbenchAccess): WorkbenchRole {
  return userOf(context, access)?.role ?? 'read';
}

/** A change: a token whose holder may, and from a browser also our own header and our own origin. */
export function mayChange(context: Context, access: WorkbenchAccess, needed: WorkbenchRole = 'steer'): boolean {
  const user = userOf(context, access);
  if (!user || workbenchRoles.indexOf(user.role) < workbenchRoles.indexOf(needed)) return false;
  if (context.req.header('authorization') !== undefined) return true;
  const site = context.req.header('sec-fetch-site');
  const origin = context.req.header('origin');
  const host = context.req.header('host') ?? '';
  const own = origin === undefined || origin === `${access.open ? 'https' : 'http'}://${host}`;
  return context.req.header('x-skein') === '1' && own && (site === undefined || site === 'same-origin');
}

/** Refuses foreign names, takes the token out of the address, and closes the door where it must be closed. */
export function gate(access: WorkbenchAccess): MiddlewareHandler {
  const names = new Set(['127.0.0.1', 'localhost', '[::1]'].map(name => `${name}:${access.port}`));
  return async (context, next) => {
    if (!access.open && !names.has(context.req.header('host') ?? '')) {
      return context.json({ code: 'refused', error: 'This workbench answers to its own name only.' }, 421);
    }
    const given = context.req.query('token');
    if (context.req.path === '/' && given !== undefined) {
      const user = holderOf(given, access);
      if (!user) return context.text('This is not a token of this workbench.', 403);
      setCookie(context, cookieName(access), user.token, {
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
