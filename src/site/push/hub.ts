/**
 * A small WebSub hub for sites that have none (W3C Recommendation of 2018): it takes subscriptions to the site's own
 * topics, asks each subscriber whether it meant it, sends what changed with an HMAC over it, and forgets whoever does not
 * renew its lease. Subscriptions are kept in a file, with how far each has been told.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { send } from '../../crawler/send.ts';
import { ATOM_TYPE, feed } from '../faces/atom.ts';
import { FaceError } from '../faces/request.ts';
import type { Journal } from '../journal/journal.ts';
import type { Entry } from '../journal/lines.ts';
import { Follower } from './follower.ts';

interface HubOptions {
  readonly directory: string;
  readonly journal: Journal;
  readonly site: string;
  /** Absolute URLs: the hub's own, and the topic that can be subscribed to. */
  readonly self: string;
  readonly topic: string;
  readonly allowPrivate: boolean;
  readonly now: () => number;
  /** Milliseconds between a change and the telling. */
  readonly pause?: number | undefined;
}

interface HubSubscription {
  readonly callback: string;
  readonly topic: string;
  readonly secret: string;
  /** Who asked for it, as far as an address tells; empty = it is not known. */
  readonly from?: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  told: number;
  problem: string;
}

/** What a subscriber asks for. */
interface HubWish extends Pick<HubSubscription, 'callback' | 'secret'> {
  readonly mode: string;
  /** Seconds. */
  readonly lease: number;
  readonly from: string;
}

/** In all; and of one asker, or of callbacks at one host: so nobody alone takes all the places. */
const MOST = 1000;
const MOST_ALIKE = 50;
const MOST_VERIFYING = 32;
const MOST_VERIFYING_ALIKE = 4;
const SHORTEST_LEASE = 300;
const LONGEST_LEASE = (30 * DAY) / 1000;
const USUAL_LEASE = (10 * DAY) / 1000;
const BATCH = 1000;

export class Hub {
  readonly #options: HubOptions;
  readonly #file: string;
  readonly #subscriptions = new Map<string, { readonly subscription: HubSubscription; readonly follower: Follower }>();
  /** Callbacks that are being asked, by who named them. */
  readonly #verifying = new Map<string, number>();

  constructor(options: HubOptions) {
    this.#options = options;
    this.#file = join(options.directory, 'subscriptions.json');
    for (const subscription of this.#read()) if (subscription.expires > options.now()) this.#add(subscription);
  }

  get subscribers(): readonly Pick<HubSubscription, 'callback' | 'expires' | 'told' | 'problem'>[] {
    return [...this.#subscriptions.values()].map(({ subscription }) => subscription);
  }

  /**
   * A form as subscribers send it; `from`: whoever did, empty = nobody knows. Throws what is wrong with it; else it is taken,
   * and verified later.
   */
  take(form: URLSearchParams, from: string): void {
    const mode = form.get('hub.mode');
    const topic = form.get('hub.topic') ?? '';
    const callback = form.get('hub.callback') ?? '';
    const secret = form.get('hub.secret') ?? '';
    if (mode !== 'subscribe' && mode !== 'unsubscribe') throw bad('hub.mode must be subscribe or unsubscribe.');
    if (topic !== this.#options.topic) throw bad(`The topic of this hub is ${this.#options.topic}.`);
    const url = callback.length > 2000 ? null : URL.parse(callback);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
      throw bad('hub.callback must be a URL.');
    if (Buffer.byteLength(secret) >= 200) throw bad('hub.secret must be shorter than 200 bytes.');
    const asked = Number(form.get('hub.lease_seconds') || USUAL_LEASE);
    if (!Number.isFinite(asked)) throw bad('hub.lease_seconds must be a number.');
    const lease = Math.round(Math.min(LONGEST_LEASE, Math.max(SHORTEST_LEASE, asked)));
    for (const { callback: other, expires } of this.subscribers) if (expires <= this.#options.now()) this.#drop(other);
    const isNew = !this.#subscriptions.has(url.href);
    if (!this.#mayAsk(from) || (mode === 'subscribe' && isNew && !this.#hasRoom(url, from))) {
      throw new FaceError('slow-down', 'This hub has reached its limit of subscribers.', 60);
    }
    this.#verifying.set(from, (this.#verifying.get(from) ?? 0) + 1);
    void this.#verify({ callback: url.href, mode, lease, secret, from }).finally(() => {
      const left = this.#verifying.get(from)! - 1;
      if (left > 0) this.#verifying.set(from, left);
      else this.#verifying.delete(from);
    });
  }

  #mayAsk(from: string): boolean {
    const all = [...this.#verifying.values()].reduce((sum, each) => sum + each, 0);
    return all < MOST_VERIFYING && (from === '' || (this.#verifying.get(from) ?? 0) < MOST_VERIFYING_ALIKE);
  }

  #hasRoom({ hostname }: URL, from: string): boolean {
    const all = [...this.#subscriptions.values()].map(({ subscription }) => subscription);
    const alike = all.filter(
      each => (from !== '' && each.from === from) || new URL(each.callback).hostname === hostname,
    );
    return all.length < MOST && alike.length < MOST_ALIKE;
  }

  stop(): void {
    for (const { follower } of this.#subscriptions.values()) follower.stop();
  }

  /** Whether the subscriber meant it: it has to repeat what only it was told. */
  async #verify({ callback, mode, lease, secret, from }: HubWish): Promise<void> {
    const { topic, allowPrivate, journal, now } = this.#options;
    const challenge = randomBytes(24).toString('base64url');
    const url = new URL(callback);
    url.searchParams.append('hub.mode', mode);
    url.searchParams.append('hub.topic', topic);
    url.searchParams.append('hub.challenge', challenge);
    if (mode === 'subscribe') url.searchParams.append('hub.lease_seconds', String(lease));
    try {
      const { status, body } = await send({ method: 'GET', url: url.href, allowPrivate });
      if (status < 200 || status > 299 || body !== challenge) return;
    } catch {
      return; // who cannot be asked has not agreed
    }
    const before = this.#subscriptions.get(callback)?.subscription.told;
    this.#drop(callback);
    if (mode === 'subscribe') {
      const told = before ?? journal.cursor.sequence;
      this.#add({ callback, topic, secret, from, expires: now() + lease * 1000, told, problem: '' });
    }
    this.#write();
  }

  #add(subscription: HubSubscription): void {
    const follower = new Follower({
      journal: this.#options.journal,
      told: subscription.told,
      most: BATCH,
      pause: this.#options.pause ?? 500,
      deliver: entries => this.#deliver(subscription, entries),
      reached: sequence => {
        subscription.told = sequence;
        subscription.problem = '';
        this.#write();
      },
      failed: words => {
        subscription.problem = words;
      },
    });
    this.#subscriptions.set(subscription.callback, { subscription, follower });
  }

  async #deliver(subscription: HubSubscription, entries: readonly Entry[]): Promise<void> {
    const { callback, secret, expires, topic } = subscription;
    const { site, self, allowPrivate, now } = this.#options;
    if (expires <= now()) {
      this.#drop(callback);
      return;
    }
    const body = feed(entries, { site, hubs: [self] });
    const headers: Record<string, string> = {
      'content-type': ATOM_TYPE,
      link: `<${self}>; rel="hub", <${topic}>; rel="self"`,
    };
    if (secret !== '') {
      headers['x-hub-signature'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    }
    const { status } = await send({ method: 'POST', url: callback, headers, body, allowPrivate });
    if (status === 410) this.#drop(callback);
    else if (status < 200 || status > 299) throw new SkeinError('refused', `it answered ${status}`);
  }

  #drop(callback: string): void {
    this.#subscriptions.get(callback)?.follower.stop();
    this.#subscriptions.delete(callback);
  }

  #write(): void {
    const list = [...this.#subscriptions.values()].map(({ subscription }) => subscription);
    replaceFile(this.#file, JSON.stringify(list), PRIVATE);
  }

  #read(): readonly HubSubscription[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as HubSubscription[];
    } catch {
      return []; // none yet; subscribers renew by themselves
    }
  }
}

function bad(message: string): FaceError {
  return new FaceError('bad-request', message);
}
