/** A server whose answers are written down in a table, for the readers of what sites tell. */
import { type Answered, type Asking, NoAnswer } from '../../../src/home/notices/reading/asking.ts';

export const origin = 'https://site.test';
export type Page = { status?: number; body?: string; headers?: Record<string, string> };

/** A server that answers from a table; what it is asked for is noted. */
export function asking(pages: Record<string, Page | ((count: number) => Page)>) {
  const asked: { url: string; etag?: string | undefined }[] = [];
  const own = async ({ url, etag }: { url: string; etag?: string }): Promise<Answered> => {
    asked.push({ url, etag });
    const found = pages[url.slice(origin.length)];
    if (!found) throw new NoAnswer('no answer: dns');
    const { status = 200, body = '', headers = {} } = typeof found === 'function' ? found(asked.length) : found;
    return { status, url, body: Buffer.from(body), headers: new Map(Object.entries(headers)) };
  };
  return { asked, asking: { own, now: Date.UTC(2025, 5, 1), spent: 0 } as unknown as Asking };
}

/** For a reader who holds these pages. */
export const reading = (ask: Asking, ...held: readonly string[]) => ({
  asking: ask,
  holdings: () => held.map(url => ({ url, content: new Uint8Array(8), spoken: true })),
});
