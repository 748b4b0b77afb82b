/** Two extractors that others use, each over linkedom's tree. */
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { parseHTML } from 'linkedom';
import { wordsOfHtml } from './suites.ts';

export function readability(html: string): string {
  const { document } = parseHTML(html);
  const found = new Readability(document as never).parse();
  return found ? wordsOfHtml(found.content ?? '') : '';
}

export async function defuddle(html: string, url: string): Promise<string> {
  const { document } = parseHTML(html);
  const found = await Defuddle(document as never, url, { useAsync: false } as never);
  return wordsOfHtml(found.content ?? '');
}
