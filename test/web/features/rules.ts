/** What a site forbids: robots.txt, meta robots, X-Robots-Tag, rel=nofollow. */
import type { Document } from '../render.ts';
import { blank, render } from '../render.ts';
import type { Entry, Found, Wing } from '../site.ts';
import { html, reply } from '../site.ts';

function page(path: string, document: Partial<Document>, headers = {}, found: Found = 'links'): Entry {
  return {
    path,
    expect: 'page',
    found,
    reply: hit => {
      const whole = { ...blank, title: path, paragraphs: [`This is ${path}.`], ...document };
      return reply(200, render(whole, { design: 0, noise: [], hit, hash: 0 }), { ...html, ...headers });
    },
  };
}

/** Rules that differ in length, so that the longest match decides; `/private/secret.html` must never be asked for. */
export function robotsRules(): Wing {
  const refused = (path: string): Entry => ({ ...page(path, {}), expect: 'refused', reason: 'robots' });
  const entries = [
    refused('/private/secret.html'),
    page('/private/open.html', {}),
    refused('/private/open/not.html'),
    refused('/search?q=geese'),
    refused('/files/report.pdf'),
    page('/files/report.pdfx', {}),
  ];
  return {
    entries,
    doors: entries.map(({ path }) => ({ path, anchor: `Rule for ${path}` })),
    robots: [
      'Disallow: /private/',
      'Allow: /private/open.html$',
      'Disallow: /search',
      'Disallow: /*.pdf$',
      'Disallow:',
    ],
  };
}

export function directives(): Wing {
  const meta = (content: string) => [`<meta name="robots" content="${content}">`];
  const hidden = (name: string) => [{ href: `/m/${name}.html`, anchor: name }];
  const entries = [
    page('/m/noindex.html', { head: meta('noindex') }),
    page('/m/noarchive.html', { head: meta('NOARCHIVE') }),
    page('/m/nofollow.html', { head: meta('nofollow'), links: hidden('behind-meta') }),
    page('/m/none.html', { head: meta('none'), links: hidden('behind-none') }),
    page('/m/header-noindex.html', {}, { 'x-robots-tag': 'noindex, noarchive' }),
    page('/m/header-nofollow.html', { links: hidden('behind-header') }, { 'x-robots-tag': 'nofollow' }),
    page('/m/header-other-agent.html', { links: hidden('behind-other') }, { 'x-robots-tag': 'otherbot: nofollow' }),
    page('/m/behind-other.html', {}),
    page('/m/behind-meta.html', {}, {}, 'nofollow'),
    page('/m/behind-none.html', {}, {}, 'nofollow'),
    page('/m/behind-header.html', {}, {}, 'nofollow'),
    page('/m/behind-rel.html', {}, {}, 'nofollow'),
  ];
  const named = ['noindex', 'noarchive', 'nofollow', 'none', 'header-noindex', 'header-nofollow', 'header-other-agent'];
  const doors = named.map(name => ({ path: `/m/${name}.html`, anchor: `Directive ${name}` }));
  return { entries, doors: [...doors, { path: '/m/behind-rel.html', anchor: 'Do not follow', rel: 'nofollow' }] };
}
