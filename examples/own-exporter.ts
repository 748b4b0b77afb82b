/**
 * A format of your own: the collection as one HTML table of contents.
 *
 *   node own-exporter.ts COLLECTION
 */
import { open, pageExporter } from 'skein';

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const contents = pageExporter(
  'contents',
  ({ url, title, text }) => {
    const first = text().split('\n', 1)[0]!.slice(0, 100);
    return `<li><a href="${escaped(url)}">${escaped(title || url)}</a> ${escaped(first)}</li>\n`;
  },
  { before: '<!doctype html>\n<ul>\n', after: '</ul>\n' },
);

const [data = 'collection'] = process.argv.slice(2);
await using skein = await open({ data });
await skein.export(process.stdout, { format: contents });
