/** Formats of users' own: a function of a page, behind the port that all formats are behind. */
import { type Exporter, put } from './exporter.ts';

export type { Exporter } from './exporter.ts';

/** A page as it is now, or was at the time that an export names. */
export interface ExportedPage {
  readonly url: string;
  /** Milliseconds since 1970, of the copy. */
  readonly time: number;
  readonly title: string;
  /** Its main content, without what its server's pages share. */
  text(): string;
  markdown(): string;
  html(): string;
}

/** `write` gives what is written of a page; `before` and `after` stand around all of it. */
export function pageExporter(
  name: string,
  write: (page: ExportedPage) => string | Uint8Array,
  { before = '', after = '' }: { readonly before?: string; readonly after?: string } = {},
): Exporter {
  return {
    ...{ name, binary: false, pages: true },
    async write(wanted, out) {
      // Loaded by those who export: it parses HTML.
      const { eachPage } = await import('./contents.ts');
      if (before !== '') await put(out, before);
      const count = await eachPage(wanted, page => put(out, write(page)));
      if (after !== '') await put(out, after);
      return count;
    },
  };
}
