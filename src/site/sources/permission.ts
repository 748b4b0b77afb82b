/**
 * What may be told of a site, in one place: what its robots.txt lets Skein fetch, and within that what the owner's list
 * allows. `/docs/**` allows, `!/docs/old/**` forbids; with nothing but exclusions everything else is allowed.
 */
import { originOf } from '../../base/url.ts';
import { allowed, parseRobots, type Robots } from '../../crawler/robots/robots.ts';
import { AGENT_TOKEN } from '../../errand/agent.ts';
import { compileGlob } from '../../errand/scope/glob.ts';

export class SourcePermission {
  readonly #site: string;
  readonly #prefix: string;
  readonly #allow: readonly ((path: string) => boolean)[];
  readonly #deny: readonly ((path: string) => boolean)[];
  #robots: Robots | undefined;

  /** `site`: the public URL; what does not lie under its path is not told. */
  constructor(site: string, allow: readonly string[]) {
    this.#site = originOf(site);
    this.#prefix = site.slice(this.#site.length);
    const globs = (patterns: readonly string[]) => patterns.map(compileGlob);
    this.#deny = globs(allow.filter(each => each.startsWith('!')).map(each => each.slice(1)));
    this.#allow = globs(allow.filter(each => !each.startsWith('!')));
  }

  /** Undefined: the site has none. */
  useRobots(text: Uint8Array | undefined): void {
    this.#robots = text === undefined ? undefined : parseRobots(text);
  }

  permits(path: string): boolean {
    if (!path.startsWith(this.#prefix)) return false;
    if (this.#allow.length > 0 && !this.#allow.some(matches => matches(path))) return false;
    if (this.#deny.some(matches => matches(path))) return false;
    return this.#robots === undefined || allowed(this.#robots, AGENT_TOKEN, this.#site + path).allowed;
  }
}
