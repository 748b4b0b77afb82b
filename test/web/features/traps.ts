/** Places that have more URLs than anyone should fetch. Only their doors are expected to be found. */
import { hashOf } from '../random.ts';
import type { Entry, Wing } from '../site.ts';
import { reply } from '../site.ts';

export function traps(): Wing {
  const trap = (path: string, body: (path: string, count: number) => string): Entry => ({
    path,
    expect: 'page',
    found: 'unlinked', // how far a crawl goes in is its own choice
    reply: ({ path: asked, count }) => reply(200, `<!DOCTYPE html>${body(asked, count)}`),
  });
  const entries = [
    // A calendar without end: near-identical pages, one per month, for ever.
    trap('/calendar/*', path => {
      const [, , year = '2026', month = '1'] = path.split('/');
      const serial = Number(year) * 12 + Number(month) - 1;
      const href = (step: number) => `/calendar/${Math.floor((serial + step) / 12)}/${((serial + step) % 12) + 1}`;
      return `<title>Calendar</title><h1>${year}-${month}</h1><p>No events this month.
<a href="${href(-1)}">Earlier</a> <a href="${href(1)}">Later</a>`;
    }),
    // A wrong relative link: each page is one folder deeper than the last.
    trap('/deep/*', () => '<title>Deep</title><p>This folder holds itself. <a href="again/again/index.html">Again</a>'),
    // A session id in each link: the same two pages under ever new URLs.
    trap('/session/*', (path, count) => {
      const id = hashOf(path.length, count, Number.parseInt(path.slice(-6), 16) || 0)
        .toString(16)
        .padStart(8, '0');
      const to = (name: string) => `<a href="/session/${name}.html?sessionid=${id}">${name}</a>`;
      return `<title>Shop</title><p>The shop has two rooms. ${to('left')} ${to('right')}`;
    }),
    // Every order of every filter.
    trap('/filter*', path => {
      const next = ['colour', 'size', 'price', 'brand'].map(
        name => `<a href="${path}${path.includes('?') ? '&amp;' : '?'}${name}=${path.length % 7}">${name}</a>`,
      );
      return `<title>Filter</title><p>Twelve things match. ${next.join(' ')}`;
    }),
  ];
  const doors = ['/calendar/2026/1', '/deep/index.html', '/session/left.html', '/filter'];
  return { entries, doors: doors.map(path => ({ path, anchor: `Enter ${path}` })) };
}
