/** Redirects of each status, in chains, in circles, to other servers, and by meta refresh. */
import { articlePath } from '../article.ts';
import { blank, render } from '../render.ts';
import type { Entry, Expectation, Site, Wing } from '../site.ts';
import { reply } from '../site.ts';

export function redirects(site: Site): Wing {
  const target = articlePath(site.options.pagesPerServer - 1);
  const away = `${site.origins[(site.server + 1) % site.origins.length]}/`;
  const to = (path: string, location: string, status = 301, expect: Expectation = 'moved'): Entry => ({
    path,
    expect,
    found: 'links',
    reason: expect === 'moved' ? 'redirect' : 'redirect-loop',
    reply: () => reply(status, '', { location }),
  });
  const entries: Entry[] = [
    to('/r/301', target),
    to('/r/302', target, 302),
    to('/r/303', target, 303),
    to('/r/307', target, 307),
    to('/r/308', site.origin + target, 308),
    to('/r/away', away, 302),
    to('/r/chain-1', '/r/chain-2'),
    to('/r/chain-2', 'chain-3', 302),
    to('/r/chain-3', target),
    // Each leg of a circle is a redirect like any other; only its length tells, so no reason is promised.
    ...['/r/circle-a', '/r/circle-b'].map(
      (path, index): Entry => ({
        path,
        expect: 'moved',
        found: 'links',
        reply: () => reply(302, '', { location: index === 0 ? '/r/circle-b' : '/r/circle-a' }),
      }),
    ),
    // Never the same URL twice: only the count of redirects in a row can end it.
    {
      path: '/r/stairs?step=*',
      expect: 'moved',
      found: 'unlinked',
      reply: ({ path }) => reply(302, '', { location: `/r/stairs?step=${Number(path.split('=')[1]) + 1}` }),
    },
    {
      path: '/r/refresh.html',
      expect: 'page',
      found: 'links',
      reply: hit => {
        const head = ['<meta http-equiv="refresh" content="0; url=refreshed.html">'];
        return reply(
          200,
          render({ ...blank, title: 'Moved by refresh', head }, { design: 0, noise: [], hit, hash: 0 }),
        );
      },
    },
    {
      path: '/r/refreshed.html',
      expect: 'page',
      found: 'links',
      reply: () => reply(200, '<!DOCTYPE html><title>Refreshed</title><p>Only a meta refresh leads here.'),
    },
    { path: '/r/nowhere', expect: 'failed', found: 'links', reply: () => reply(302, '', {}) },
  ];
  const doors = ['301', '302', '303', '307', '308', 'away', 'chain-1', 'circle-a', 'refresh.html', 'nowhere'].map(
    name => ({ path: `/r/${name}`, anchor: `Redirect ${name}` }),
  );
  return { entries, doors: [...doors, { path: '/r/stairs?step=1', anchor: 'Endless stairs' }] };
}
