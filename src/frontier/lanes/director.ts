/**
 * The domain name director of the second paper: servers that may be visited now wait in one queue per domain (a top-level
 * one, or a longer suffix such as co.uk that has a weight of its own), and the domains are served in turn, each as often in a round as its weight says. Within a domain, first come
 * is first served. A domain without a ready server takes no part, so its share goes to the others.
 *
 * It never looks at pages and never waits. Invariant: a server is in at most one queue, and every domain of the ring
 * has at least one server waiting.
 */
import { topLevelDomain } from '../../base/domain.ts';
import { SkeinError } from '../../base/errors.ts';

/** The weight of every domain that is not named. */
const OTHERS = '*';
const HEAVIEST = 1000;

interface Domain {
  readonly weight: number;
  queue: number[];
  /** Next server of the queue; those before it are used up. */
  head: number;
  /** Servers it may still send in this round. */
  turns: number;
}

export class Director {
  readonly #weights: ReadonlyMap<string, number>;
  readonly #domains = new Map<string, Domain>();
  /** Servers in queues. */
  readonly #waiting = new Set<number>();
  /** Domains with a server waiting, the one whose turn it is first. */
  readonly #ring: Domain[] = [];

  constructor(weights: ReadonlyMap<string, number> = new Map()) {
    this.#weights = weights;
  }

  /** The server (by its id) may be visited. False when its domain has the weight 0, and it will never be. */
  offer(server: number, topLevelDomain: string): boolean {
    if (this.#waiting.has(server)) return true;
    const domain = this.#domainOf(topLevelDomain);
    if (domain.weight === 0) return false;
    this.#waiting.add(server);
    if (domain.queue.length === 0) {
      domain.turns = domain.weight;
      this.#ring.push(domain);
    }
    domain.queue.push(server);
    return true;
  }

  /**
   * Takes the server whose turn it is; undefined when none waits. Where there are some in its domain that `prefers` names,
   * near the head of the queue, the first of them comes before the others.
   */
  next(prefers?: (server: number) => boolean): number | undefined {
    const domain = this.#ring[0];
    if (!domain) return undefined;
    if (prefers) bringForward(domain, prefers);
    const server = firstOf(domain);
    this.#waiting.delete(server);
    domain.turns--;
    if (domain.queue.length === 0) this.#ring.shift();
    else if (domain.turns === 0) {
      domain.turns = domain.weight;
      this.#ring.push(this.#ring.shift()!);
    }
    return server;
  }

  #domainOf(name: string): Domain {
    let domain = this.#domains.get(name);
    if (!domain) {
      domain = { weight: weightOf(this.#weights, name), queue: [], head: 0, turns: 0 };
      this.#domains.set(name, domain);
    }
    return domain;
  }
}

function weightOf(weights: ReadonlyMap<string, number>, topLevelDomain: string): number {
  return weights.get(topLevelDomain) ?? weights.get(OTHERS) ?? 1;
}

/** The domain whose turns a host takes: the longest name among the weights that it ends with, else its last label. */
export function domainOf(weights: ReadonlyMap<string, number>, host: string): string {
  const last = topLevelDomain(host);
  if (last === '') return '';
  for (let at = 0; at >= 0; at = host.indexOf('.', at) + 1 || -1) {
    const name = host.slice(at);
    if (weights.has(name)) return name;
  }
  return last;
}

/** Servers of this domain are never to be visited, so their pages need not wait. */
export function leavesOut(weights: ReadonlyMap<string, number>, topLevelDomain: string): boolean {
  return weightOf(weights, topLevelDomain) === 0;
}

/** Servers of a queue that are looked at for one that is preferred. */
const LOOKED_AT = 64;

function bringForward({ queue, head }: Domain, prefers: (server: number) => boolean): void {
  const end = Math.min(queue.length, head + LOOKED_AT);
  for (let at = head; at < end; at++) {
    if (!prefers(queue[at]!)) continue;
    queue.splice(head, 0, ...queue.splice(at, 1));
    return;
  }
}

/** Takes the first server of a domain that has one; what is used up of the queue is dropped now and then. */
function firstOf(domain: Domain): number {
  const server = domain.queue[domain.head++]!;
  const all = domain.head === domain.queue.length;
  if (all || (domain.head >= 64 && domain.head * 2 >= domain.queue.length)) {
    domain.queue = domain.queue.slice(domain.head);
    domain.head = 0;
  }
  return server;
}

/** Reads `edu=3,co.uk=1,*=0`: domains and their weights, whole numbers from 0. */
export function parseDomainWeights(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const match = /^\s*(\*|\.?[\p{L}\p{N}.-]+)\s*=\s*(\d{1,4})\s*$/u.exec(part);
    const weight = Number(match?.[2]);
    if (!match || weight > HEAVIEST) throw wrong(`"${part.trim()}" is not a domain and its weight.`);
    const name = match[1]!.replace(/^\./, '').toLowerCase();
    if (weights.has(name)) throw wrong(`The domain "${name}" has two weights.`);
    weights.set(name, weight);
  }
  if (weights.size > 0 && [...weights.values()].every(weight => weight === 0) && weights.has(OTHERS)) {
    throw wrong('With these weights no domain would ever be visited.');
  }
  return weights;
}

function wrong(message: string): SkeinError {
  return new SkeinError(
    'bad-option',
    message,
    `Write domains with whole numbers from 0 to ${HEAVIEST}, as in edu=3,co.uk=1; *=0 leaves out all others.`,
  );
}
