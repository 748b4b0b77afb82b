/** Pages that the program tells of itself, as a function of `site({ pages })`. */
import { normalise, originOf } from '../../base/url.ts';
import type { DocumentKind } from '../../notices/site/paths.ts';
import type { Item, SiteSource, SourceDocument } from './source.ts';

export interface ToldPage {
  /** Absolute, or a path of the site. */
  readonly url: string;
  readonly body: string | Uint8Array;
  /** Content-Type; HTML unless said otherwise. */
  readonly type?: string;
  readonly title?: string;
  readonly modified?: Date | number;
  /** `record` and `media` are documents to which no link leads. */
  readonly kind?: DocumentKind;
}

/** All pages, or only the one at `url` where that is asked for; those that it leaves out are gone. */
export type TellPages = (url?: string) => AsyncIterable<ToldPage> | Iterable<ToldPage>;

export class ToldSource implements SiteSource {
  readonly name = 'told';
  readonly every: number;
  readonly #site: string;
  readonly #tell: TellPages;

  constructor(site: string, tell: TellPages, every = 600_000) {
    this.#site = site;
    this.#tell = tell;
    this.every = every;
  }

  async *list(): AsyncIterable<Item> {
    for await (const page of this.#tell()) {
      const path = this.#pathOf(page.url);
      if (path !== undefined) yield { path, stamp: '', document: () => documentOf(page) };
    }
  }

  async read(path: string): Promise<SourceDocument | undefined> {
    for await (const page of this.#tell(originOf(this.#site) + path)) {
      if (this.#pathOf(page.url) === path) return documentOf(page);
    }
    return undefined;
  }

  #pathOf(written: string): string | undefined {
    const url = normalise(written, this.#site);
    const origin = originOf(this.#site);
    return url !== undefined && originOf(url) === origin ? url.slice(origin.length) : undefined;
  }
}

function documentOf({ body, type, title, modified, kind }: ToldPage): SourceDocument {
  return {
    kind: kind ?? 'page',
    type: type ?? 'text/html; charset=utf-8',
    title,
    modified: modified === undefined ? undefined : Number(modified),
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}
