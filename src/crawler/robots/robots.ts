/**
 * robots.txt by RFC 9309, and what servers say about single pages in X-Robots-Tag and meta robots.
 * It reads and answers; it never fetches: crawl.ts does, and hands over what came as a RobotsCopy.
 *
 * Invariants: any bytes can be read, in linear time, without an error; `allowed` never says yes where the standard says
 * no. Beyond the standard we read Crawl-delay, Sitemap and the lines about use (Content-Usage, Content-Signal,
 * License), accept common misspellings and a missing colon, since the site's will is plain, and take none of
 * these as the end of a group.
 */
import { DAY, HOUR } from '../../base/clock.ts';
import type { RobotsCopy } from '../../errand/errand.ts';
import { checkRules, compileRules, noRule, type RobotsRule, type RobotsVerdict, type Rules } from './robots-rules.ts';

/** Bytes that are read; the line across this border and all behind it are ignored. */
export const ROBOTS_LIMIT = 500 * 1024;
/** After this long without an answer RFC 9309 §2.3.1.4 lets us use the last good copy, or take it that there is none. */
const GIVE_UP = 30 * DAY;

export interface Robots {
  readonly groups: readonly AgentGroup[];
  /** As written; to be normalised by whoever fetches them. */
  readonly sitemaps: readonly string[];
  /** Recorded, not acted upon. */
  readonly uses: readonly Use[];
  /** There was more than the limit. */
  readonly cut: boolean;
  /** Filled by `allowed`: one entry per product token asked for. */
  readonly compiled: Map<string, ChosenRules>;
}

interface AgentGroup {
  /** Product tokens in lower case, or `*`. */
  readonly agents: string[];
  readonly rules: RobotsRule[];
  /** A delay counts for the agents named before it and after the delay before. */
  readonly delays: { readonly agents: number; readonly ms: number }[];
}

interface Use {
  readonly kind: 'content-usage' | 'content-signal' | 'license';
  readonly value: string;
  /** Whom the group of the line addresses; empty outside groups. */
  readonly agents: readonly string[];
}

/** What one product token has to obey. */
interface ChosenRules {
  readonly rules: Rules;
  /** Milliseconds, 0 = none. */
  readonly crawlDelay: number;
}

const keys: Readonly<Record<string, string>> = {
  'user-agent': 'agent',
  useragent: 'agent',
  'user agent': 'agent',
  allow: 'allow',
  disallow: 'disallow',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  'crawl-delay': 'delay',
  crawldelay: 'delay',
  sitemap: 'sitemap',
  'site-map': 'sitemap',
  'content-usage': 'content-usage',
  'content-signal': 'content-signal',
  license: 'license',
};

interface RobotsReading {
  readonly groups: AgentGroup[];
  readonly sitemaps: string[];
  readonly uses: Use[];
  /** The group that is being read; a User-agent line after a rule starts the next. */
  group: AgentGroup | undefined;
}

export function parseRobots(body: string | Uint8Array): Robots {
  const all = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const cut = all.length > ROBOTS_LIMIT;
  // One character per byte: whatever the encoding, the octets are what is compared.
  let text = all.toString('latin1', 0, ROBOTS_LIMIT);
  if (cut) text = text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
  const reading: RobotsReading = { groups: [], sitemaps: [], uses: [], group: undefined };
  for (const line of text.replace(/^\xef(?:\xbb\xbf?)?/, '').split(/[\r\n]+/)) readLine(line, reading);
  const { groups, sitemaps, uses } = reading;
  return { groups, sitemaps, uses, cut, compiled: new Map() };
}

/** Not String.trim: it would take the last byte of `à`. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return text.slice(start, end);
}

function readLine(line: string, reading: RobotsReading): void {
  const hash = line.indexOf('#');
  const text = trim(hash < 0 ? line : line.slice(0, hash));
  if (text === '') return;
  let border = text.indexOf(':');
  if (border < 0) {
    border = text.search(/[ \t]/);
    // Without a colon only a key and one word are plain enough to be meant.
    if (border < 0 || /[ \t]/.test(trim(text.slice(border)))) return;
  }
  const name = trim(text.slice(0, border)).toLowerCase();
  const key = Object.hasOwn(keys, name) ? keys[name]! : '';
  if (key !== '') readRecord(key, trim(text.slice(border + 1)), reading);
}

function readRecord(key: string, value: string, reading: RobotsReading): void {
  let { group } = reading;
  switch (key) {
    case 'agent':
      if (group === undefined || group.rules.length > 0) {
        group = { agents: [], rules: [], delays: [] };
        reading.group = group;
        reading.groups.push(group);
      }
      group.agents.push(productToken(value));
      break;
    case 'allow':
    case 'disallow':
      // An empty pattern matches nothing, but it is a rule: it ends the list of agents.
      group?.rules.push({ allow: key === 'allow', pattern: value, text: ruleText(key, value) });
      break;
    case 'delay':
      readDelay(value, group);
      break;
    case 'sitemap':
      if (value !== '') reading.sitemaps.push(readable(value));
      break;
    default:
      reading.uses.push({
        kind: key as Use['kind'],
        value: readable(value),
        agents: [...(group?.agents ?? [])].slice(0, 64),
      });
  }
}

function ruleText(key: string, value: string): string {
  return `${key === 'allow' ? 'Allow' : 'Disallow'}: ${readable(value)}`;
}

/** Bytes back to text. */
function readable(latin: string): string {
  return /[\x80-\xff]/.test(latin) ? Buffer.from(latin, 'latin1').toString('utf8') : latin;
}

/** `FooBot/2.1 (comment)` is `foobot`: RFC 9309 §2.2.1 gives a product token letters, `_` and `-`. */
function productToken(value: string): string {
  if (value.startsWith('*') && (value.length === 1 || value.charCodeAt(1) <= 32)) return '*';
  return (/^[A-Za-z_-]+/.exec(value)?.[0] ?? '').toLowerCase();
}

function readDelay(value: string, group: AgentGroup | undefined): void {
  const seconds = /^\d+(?:[.,]\d+)?$/.test(value) ? Number(value.replace(',', '.')) : 0;
  if (group !== undefined && seconds > 0)
    group.delays.push({ agents: group.agents.length, ms: Math.ceil(seconds * 1000) });
}

/** The groups that speak to this name, or else to everybody. */
function groupsFor(robots: Robots, name: string): { agent: string; groups: readonly AgentGroup[] } {
  const own = name === '' ? [] : robots.groups.filter(group => group.agents.includes(name));
  if (own.length > 0) return { agent: name, groups: own };
  return { agent: '*', groups: robots.groups.filter(group => group.agents.includes('*')) };
}

/** The lines that count for this token, as people should read them. */
export function rulesFor(robots: Robots, userAgentToken: string): string[] {
  const { groups } = groupsFor(robots, userAgentToken.toLowerCase());
  return groups.flatMap(group => group.rules.map(rule => rule.text));
}

function chosenFor(robots: Robots, token: string): ChosenRules {
  const known = robots.compiled.get(token);
  if (known !== undefined) return known;
  const { agent, groups } = groupsFor(robots, token.toLowerCase());
  let crawlDelay = 0;
  for (const { agents, delays } of groups) {
    const place = agents.indexOf(agent);
    // The next delay after the agent's name is the one meant for it; those after further names are meant for these.
    const nearest = Math.min(...delays.filter(delay => place < delay.agents).map(delay => delay.agents));
    for (const delay of delays) if (delay.agents === nearest) crawlDelay = Math.max(crawlDelay, delay.ms);
  }
  const chosen = { rules: compileRules(groups.flatMap(group => group.rules)), crawlDelay };
  robots.compiled.set(token, chosen);
  return chosen;
}

/** May `userAgentToken` fetch `url` (normalised), and which line says so. */
export function allowed(robots: Robots, userAgentToken: string, url: string): RobotsVerdict {
  const { rules } = chosenFor(robots, userAgentToken);
  if (rules.heads.length === 0) return noRule; // most servers have no rules for us
  const scheme = url.indexOf('://');
  const slash = scheme < 0 ? -1 : url.indexOf('/', scheme + 3);
  const hash = url.indexOf('#');
  const path = slash < 0 ? '/' : url.slice(slash, hash < 0 ? url.length : hash);
  // RFC 9309 §2.2.2: implicitly allowed, or nobody could read the rules.
  if (path === '/robots.txt') return noRule;
  return checkRules(rules, path);
}

/** Milliseconds that the group for this token asks for between requests, 0 = none. Not capped: pace.ts does that. */
export function crawlDelay(robots: Robots, userAgentToken: string): number {
  return chosenFor(robots, userAgentToken).crawlDelay;
}

export interface RobotsTerms {
  readonly robots: Robots;
  /** Why these rules hold: read, there is no file, cannot be read, or could not be read for 30 days. */
  readonly state: 'rules' | 'none' | 'unreachable' | 'given-up';
  /** Milliseconds since 1970 from which robots.txt must be fetched again before the next page. */
  readonly expires: number;
}

/** What is remembered of a server whose robots.txt cannot be read. */
interface Unreachable {
  /** First failure in a row. */
  readonly since: number;
  /** The last copy that could be read. */
  readonly good?: RobotsCopy;
}

/** Milliseconds after which a server that did not answer may be asked again: the first retry of a page (reasons.ts). */
const ASK_AGAIN = HOUR / 6;

const allowAll = parseRobots('');

function disallowAll(): Robots {
  const rule = { allow: false, pattern: '/', text: 'robots.txt cannot be read, so nothing may be fetched' };
  return { ...allowAll, groups: [{ agents: ['*'], rules: [rule], delays: [] }], compiled: new Map() };
}

/**
 * RFC 9309 §2.3.1: 2xx is read; 4xx (and redirects without end) mean that there are no rules; 5xx, 429 and no answer
 * mean that nothing may be fetched, for 30 days, then the last good copy counts again, or none.
 */
export function robotsTerms(copy: RobotsCopy, now: number, unreachable?: Unreachable): RobotsTerms {
  const { status, body, time } = copy;
  const expires = time + DAY;
  if (status >= 200 && status < 300) return { robots: parseRobots(body), state: 'rules', expires };
  if (status >= 300 && status < 500 && status !== 429) return { robots: allowAll, state: 'none', expires };
  const since = unreachable?.since ?? (copy.unreachableSince || time);
  if (now - since < GIVE_UP) return { robots: disallowAll(), state: 'unreachable', expires: time + ASK_AGAIN };
  const good = unreachable?.good;
  return { robots: good === undefined ? allowAll : parseRobots(good.body), state: 'given-up', expires };
}
