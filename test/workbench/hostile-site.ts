/** A site whose every part wants to run in the browser of whoever looks at it: titles, paths, headers, links, bodies. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const RUN = 'top.hacked=1;parent.hacked=1;window.hacked=1';
const MARKUP = `"'><img src=x onerror="${RUN}"><script>${RUN}</script>`;

export interface HostileSite extends AsyncDisposable {
  readonly origin: string;
  /** Requests so far, by path. */
  readonly asked: readonly string[];
}

function pageOf(origin: string): string {
  return `<!doctype html><html lang="en" onload="${RUN}"><head>
<title>Goose \u202egnp.exe\u202c ${MARKUP.replaceAll('<', '&lt;')}</title>
<meta http-equiv="refresh" content="5;url=${origin}/left-by-refresh">
<link rel="stylesheet" href="${origin}/left-by-sheet"><link rel="prefetch" href="/left-by-prefetch"><base target="_top">
<style>body{background:url(${origin}/left-by-css)} @import "/left-by-import";</style></head>
<body onload="${RUN}" onpageshow="${RUN}" background="/left-by-background">
<h1>Goose ${MARKUP.replaceAll('<', '&lt;')}</h1>
<script>${RUN}; fetch('${origin}/left-by-fetch')</script>
<img src="${origin}/left-by-image" onerror="${RUN}"><svg onload="${RUN}"><image href="${origin}/left-by-svg"/></svg>
<iframe src="${origin}/left-by-frame" srcdoc="<script>${RUN}</script>"></iframe><object data="/left-by-object"></object>
<video autoplay src="${origin}/left-by-video" poster="/left-by-poster"></video><audio src="/left-by-audio" autoplay></audio>
<form action="${origin}/left-by-form"><button autofocus onfocus="${RUN}">go</button></form><details open ontoggle="${RUN}">x</details>
<a href="javascript:${RUN}">${MARKUP.replaceAll('<', '&lt;')}</a>
<a id="out" href="/next?x=%22%3E%3Cscript%3E${encodeURIComponent(RUN)}%3C/script%3E">next ${MARKUP.replaceAll('<', '&lt;')}</a>
<textarea></textarea><img src=x onerror="${RUN}"></body></html>`;
}

export async function openHostileSite(): Promise<HostileSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/robots.txt') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(`User-agent: *\nAllow: /\n# ${MARKUP}\n`);
      return;
    }
    if (request.url?.startsWith('/left-by')) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'x-markup': MARKUP,
      etag: `"${MARKUP.replaceAll('"', "'")}"`,
      refresh: '1; url=/left-by-header',
      link: '</left-by-link>; rel=prefetch',
    });
    response.end(pageOf(`http://${request.headers.host}`));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
