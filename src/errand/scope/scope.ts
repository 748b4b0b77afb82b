/**
 * Which URLs belong to a crawl: by host and by path. Pages outside are recorded as refused and never asked for. The
 * scope is data and travels with an errand; compiled, it answers from the text of a URL alone.
 */
import { SkeinError } from '../../base/errors.ts';
import { originOf } from '../../base/url.ts';
import type { Scope } from '../errand.ts';
import type { ReasonCode } from '../reasons.ts';
import { compileGlob } from './glob.ts';
import { pathOf } from './keep.ts';

export { compileKeep, parseKeep } from './keep.ts';

/** The domain that means all of them. */
const ANYWHERE = '*';
/** A URL may have almost any character in its host; `type=text` is a slip of whoever meant a condition. */
const HOST = /^[a-z0-9._:[\]-]+$/;
/** Origins whose answer is remembered; most links lead to few. */
const REMEMBERED = 10_000;

type ScopePlaces = Pick<Scope, 'domains' | 'include' | 'exclude'>;

/**
 * Says why a normalised URL is outside, undefined = it is inside. Without domains a crawl stays on the hosts of its
 * seeds, with and without `www.`; without domains and seeds, or with the domain `*`, it goes anywhere.
 */
export function compileScope(
  scope: ScopePlaces,
  seeds: readonly string[] = [],
): (url: string) => ReasonCode | undefined {
  const hostInside = compileHosts(scope.domains, seeds);
  const include = scope.include.map(compileGlob);
  const exclude = scope.exclude.map(compileGlob);
  const answers = new Map<string, boolean>();
  return url => {
    const origin = originOf(url);
    let inside = answers.get(origin);
    if (inside === undefined) {
      if (answers.size >= REMEMBERED) answers.clear();
      inside = hostInside(origin);
      answers.set(origin, inside);
    }
    if (!inside) return 'out-of-scope';
    if (include.length === 0 && exclude.length === 0) return undefined;
    const path = pathOf(url);
    if (include.length > 0 && !include.some(matches => matches(path))) return 'out-of-scope';
    return exclude.some(matches => matches(path)) ? 'out-of-scope' : undefined;
  };
}

function compileHosts(domains: readonly string[], seeds: readonly string[]): (origin: string) => boolean {
  if (domains.includes(ANYWHERE) || (domains.length === 0 && seeds.length === 0)) return () => true;
  if (domains.length === 0) {
    const hosts = new Set<string>();
    for (const seed of seeds) {
      const { host } = new URL(seed);
      hosts.add(host).add(host.startsWith('www.') ? host.slice(4) : `www.${host}`);
    }
    return origin => hosts.has(new URL(origin).host);
  }
  const wanted = new Set(domains.map(domainOf));
  return origin => {
    const { protocol, hostname, port: written } = new URL(origin);
    const port = written || (protocol === 'https:' ? '443' : '80');
    for (let name = hostname; ; ) {
      if (wanted.has(name) || wanted.has(`${name}:${port}`)) return true;
      const dot = name.indexOf('.');
      if (dot < 0) return false;
      name = name.slice(dot + 1);
    }
  };
}

/** A domain as users write it, in the form it has in a URL: `*.Bücher.example` becomes `xn--bcher-kva.example`. */
export function domainOf(text: string): string {
  const domain = asDomain(text);
  if (domain !== undefined) return domain;
  throw new SkeinError(
    'bad-option',
    `"${text}" is not a domain or host.`,
    'Write it as example.org or example.org:8080.',
  );
}

/** The same for what another machine wrote; undefined = it is none. */
export function asDomain(text: string): string | undefined {
  if (text === ANYWHERE) return ANYWHERE;
  const bare = text
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^\*?\./, '')
    .replace(/\/.*$/, '');
  try {
    const url = new URL(`http://${bare}`);
    // URL drops port 80, which is the default of the scheme that was put in front
    if (HOST.test(url.host) && url.username === '') return /:80$/.test(bare) ? `${url.host}:80` : url.host;
  } catch {
    // not a host: whoever asked says so
  }
  return undefined;
}

/**
 * Reads the parts of `example.org,/docs/**,!/old/**`: domains or hosts, paths to stay in, and after `!` paths to keep
 * out of. A part is a path when it starts with a slash or with two stars; `*` alone means anywhere.
 */
export function parseScope(parts: readonly string[]): ScopePlaces {
  const scope = { domains: [] as string[], include: [] as string[], exclude: [] as string[] };
  for (const part of parts.map(each => each.trim())) {
    if (part === '') continue;
    const excluded = part.startsWith('!');
    const text = excluded ? part.slice(1).trim() : part;
    if (/^(\/|\*\*)/.test(text)) (excluded ? scope.exclude : scope.include).push(text);
    else if (excluded) {
      throw new SkeinError('bad-option', `"${part}" is not a path to keep out of.`, 'Write it as !/old/** or !**.pdf.');
    } else scope.domains.push(text === ANYWHERE ? ANYWHERE : domainOf(text));
  }
  return scope;
}

/** Hosts and domains that both lists allow; an empty list allows any. Undefined: they have none in common. */
export function commonDomains(a: readonly string[], b: readonly string[]): readonly string[] | undefined {
  const isAny = (list: readonly string[]) => list.length === 0 || list.includes(ANYWHERE);
  if (isAny(a) || isAny(b)) return isAny(a) ? b : a;
  const within = (list: readonly string[]) => {
    const outside = compileScope({ domains: list, include: [], exclude: [] });
    return (domain: string) => outside(`https://${domainOf(domain)}/`) === undefined;
  };
  const common = new Set([...a.filter(within(b)), ...b.filter(within(a))]);
  return common.size === 0 ? undefined : [...common];
}
