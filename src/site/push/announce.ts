/** Telling of changes to those whom the owner named: WebSub hubs (publish) and IndexNow endpoints. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { originOf } from '../../base/url.ts';
import { send } from '../../crawler/send.ts';
import type { Journal } from '../journal/journal.ts';
import type { Entry } from '../journal/lines.ts';
import { Follower } from './follower.ts';

interface AnnounceOptions {
  readonly directory: string;
  readonly journal: Journal;
  readonly site: string;
  readonly topic: string;
  /** URLs of hubs and of IndexNow endpoints. */
  readonly hubs: readonly string[];
  readonly indexNow: readonly string[];
  readonly allowPrivate: boolean;
  /** Milliseconds between a change and the telling. */
  readonly pause?: number | undefined;
}

interface TargetState {
  readonly kind: 'hub' | 'indexnow';
  readonly url: string;
  told: number;
  problem: string;
}

/** URLs that one submission may name, by IndexNow's rules. */
const INDEXNOW_URLS = 10_000;

export class Announcements {
  readonly #options: AnnounceOptions;
  readonly #file: string;
  readonly #followers: Follower[] = [];
  readonly targets: TargetState[] = [];
  /** IndexNow's key, which the site serves as `/KEY.txt`. */
  readonly key: string;

  constructor(options: AnnounceOptions) {
    this.#options = options;
    this.#file = join(options.directory, 'announced.json');
    const before = this.#read();
    this.key = before.key ?? randomBytes(16).toString('hex');
    for (const url of options.hubs) this.#follow({ kind: 'hub', url }, before.told?.[url]);
    for (const url of options.indexNow) this.#follow({ kind: 'indexnow', url }, before.told?.[url]);
    this.#write();
  }

  stop(): void {
    for (const follower of this.#followers) follower.stop();
  }

  #follow({ kind, url }: Pick<TargetState, 'kind' | 'url'>, told: number | undefined): void {
    const { journal, pause } = this.#options;
    const state: TargetState = { kind, url, told: told ?? journal.cursor.sequence, problem: '' };
    this.targets.push(state);
    this.#followers.push(
      new Follower({
        journal,
        told,
        most: INDEXNOW_URLS,
        pause: pause ?? 2000,
        deliver: entries => (kind === 'hub' ? this.#publish(url) : this.#submit(url, entries)),
        reached: sequence => {
          state.told = sequence;
          state.problem = '';
          this.#write();
        },
        failed: words => {
          state.problem = words;
        },
      }),
    );
  }

  async #publish(url: string): Promise<void> {
    const { topic } = this.#options;
    const form = new URLSearchParams({ 'hub.mode': 'publish', 'hub.url': topic, 'hub.topic': topic });
    await this.#post(url, 'application/x-www-form-urlencoded', form.toString());
  }

  async #submit(url: string, entries: readonly Entry[]): Promise<void> {
    const origin = originOf(this.#options.site);
    const urlList = [...new Set(entries.map(({ page }) => origin + page.path))];
    const { host } = new URL(origin);
    for (let at = 0; at < urlList.length; at += INDEXNOW_URLS) {
      const some = urlList.slice(at, at + INDEXNOW_URLS);
      const told = { host, key: this.key, keyLocation: `${origin}/${this.key}.txt`, urlList: some };
      await this.#post(url, 'application/json; charset=utf-8', JSON.stringify(told));
    }
  }

  async #post(url: string, type: string, body: string): Promise<void> {
    const { allowPrivate } = this.#options;
    const { status } = await send({ method: 'POST', url, headers: { 'content-type': type }, body, allowPrivate });
    if (status < 200 || status > 299) throw new SkeinError('refused', `${url} answered ${status}.`);
  }

  #write(): void {
    const told = Object.fromEntries(this.targets.map(target => [target.url, target.told]));
    replaceFile(this.#file, JSON.stringify({ key: this.key, told }), PRIVATE);
  }

  #read(): { readonly key?: string; readonly told?: Readonly<Record<string, number>> } {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as { key?: string };
    } catch {
      return {}; // nothing was told yet
    }
  }
}
