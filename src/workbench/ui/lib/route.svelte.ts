/** Where we are: the part of the address after the #, as a path and parameters. */

export interface Route {
  path: readonly string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean), query: new URLSearchParams(query) };
}

export const route = $state<{ now: Route }>({ now: read() });
addEventListener('hashchange', () => {
  route.now = read();
  scrollTo(0, 0);
});

export function go(path: string): void {
  location.hash = path;
}
