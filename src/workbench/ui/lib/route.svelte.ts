/**
 * Where we are: the part of the address after the #, as a path and parameters. Every entry of the browser's history has a
 * number, so that whoever comes back finds the place where they were.
 */
import { tick } from 'svelte';

export interface Route {
  path: readonly string[];
  query: URLSearchParams;
  /** Number of this entry of the history. */
  entry: number;
  /** It was here before: somebody came back to it. */
  back: boolean;
}

let entries = Date.now();
/** How far each entry was scrolled. */
const places = new Map<number, number>();

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const known = (history.state as { entry?: number } | null)?.entry;
  const entry = known ?? ++entries;
  if (known === undefined) history.replaceState({ entry }, '');
  return { path: path.split('/').filter(Boolean), query: new URLSearchParams(query), entry, back: known !== undefined };
}

history.scrollRestoration = 'manual';
export const route = $state<{ now: Route }>({ now: read() });

addEventListener('scroll', () => void places.set(route.now.entry, scrollY), { passive: true });
addEventListener('hashchange', () => {
  const before = route.now.path[0];
  route.now = read();
  const { entry, back, path } = route.now;
  if (!back) {
    scrollTo(0, 0);
    if (path[0] !== before) void tick().then(() => document.getElementById('content')?.focus({ preventScroll: true }));
  } else comeBack(entry);
});

/** Scrolls to where the entry was left, as soon as the view is long enough again, or gives up after a moment. */
function comeBack(entry: number, tries = 20): void {
  const place = places.get(entry) ?? 0;
  requestAnimationFrame(() => {
    if (route.now.entry !== entry) return;
    scrollTo(0, place);
    if (Math.abs(scrollY - place) > 2 && tries > 0) setTimeout(() => comeBack(entry, tries - 1), 50);
    places.set(entry, place);
  });
}

export function go(path: string): void {
  location.hash = path;
}
