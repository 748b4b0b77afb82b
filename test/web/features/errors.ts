/** Statuses that are not 200: for good, for now, and now and then. */
import type { Entry, Expectation, Wing } from '../site.ts';
import { html, reply } from '../site.ts';

const fixed = (status: number, expect: Expectation, reason: string, headers = {}): Entry => ({
  path: `/e/${status}`,
  expect,
  found: 'links',
  reason,
  reply: () => reply(status, `<title>Status ${status}</title><p>Status ${status}`, { ...html, ...headers }),
});

export function errors(): Wing {
  const entries: Entry[] = [
    fixed(400, 'failed', 'http-4xx'),
    fixed(401, 'failed', 'http-4xx'),
    fixed(403, 'failed', 'http-4xx'),
    fixed(404, 'gone', 'http-404'),
    fixed(410, 'gone', 'http-410'),
    fixed(418, 'failed', 'http-4xx'),
    fixed(500, 'failed', 'http-5xx'),
    fixed(502, 'failed', 'http-5xx'),
    {
      // A page that needs a second try: good at every other request.
      path: '/e/flapping',
      expect: 'page',
      found: 'links',
      reply: ({ count }) =>
        count % 2 === 0 ? reply(500, 'Try again') : reply(200, '<title>Flapping</title><p>This time it works.'),
    },
  ];
  const doors = entries.map(({ path }) => ({ path, anchor: `Error ${path.slice(3)}` }));
  // Unlinked, because they make a polite crawler leave the whole server alone for a while: a test asks for them.
  const pauses: Entry[] = [
    { ...fixed(503, 'failed', 'http-503', { 'retry-after': '120' }), found: 'unlinked' },
    { ...fixed(429, 'failed', 'http-429', { 'retry-after': '2' }), found: 'unlinked' },
    {
      path: '/e/503-date',
      expect: 'failed',
      found: 'unlinked',
      reason: 'http-503',
      reply: ({ time }) => reply(503, 'Back soon', { 'retry-after': new Date(time + 90_000).toUTCString() }),
    },
  ];
  return { entries: [...entries, ...pauses], doors };
}

/** A server that has a friendly page, with status 200, for whatever does not exist. */
export function softNotFound(): Wing {
  const entry: Entry = {
    path: '/shop/*',
    expect: 'gone',
    found: 'links',
    reason: 'soft-404',
    reply: ({ path }) =>
      reply(
        200,
        `<!DOCTYPE html><title>Page not found</title><h1>Sorry!</h1>
<p>We could not find what you were looking for, ${path.replace(/[^\w/.-]/g, '')} is no page of ours.
<p>Please go back to <a href="/">the beginning</a>.`,
      ),
  };
  const doors = [1, 2, 3].map(number => ({ path: `/shop/item-${number}.html`, anchor: `Item ${number}` }));
  return { entries: [entry], doors };
}
