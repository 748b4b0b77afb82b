/**
 * Globs over paths of URLs: `*` stands for anything within a segment, `**` for anything at all. A pattern that does
 * not start with a slash may begin at any segment (`*.pdf` is `/**` + `/*.pdf`), one that ends with a slash takes in
 * everything below. With a `?` in it the pattern covers the query too, else the query is ignored.
 *
 * Matching takes time in proportion to the path, whatever the pattern: URLs are written by strangers, and a regular
 * expression with several stars can be made to run for minutes.
 */
const STAR = -1;
const GLOBSTAR = -2;
/** Any number of whole segments, each with its slash. */
const SEGMENTS = -3;
const SLASH = 47;

/** A matcher of `path + query`, as in `/docs/a.html?x=1`. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const tokens = tokensOf(pattern);
  const withQuery = pattern.includes('?');
  const prefix = lettersOf(tokens);
  const rest = tokens.slice(prefix.length);
  const suffix = lettersOf(rest.toReversed(), true);
  const middle = rest.slice(0, rest.length - suffix.length);
  const least = prefix.length + suffix.length;
  const match = endsDecide(middle, suffix) ? undefined : machine(rest);
  return full => {
    const query = withQuery ? -1 : full.indexOf('?');
    const path = query < 0 ? full : full.slice(0, query);
    // The ends are cheap to compare, and settle nearly every URL.
    if (path.length < least || !path.startsWith(prefix) || !path.endsWith(suffix)) return false;
    if (match !== undefined) return match(path, prefix.length);
    return middle.length > 0 || path.length === least;
  };
}

/** Between its ends the pattern allows anything (`/docs/**`, `*.pdf`) or nothing (`/faq`). */
function endsDecide(middle: readonly number[], suffix: string): boolean {
  if (middle.length === 0 || (middle.length === 1 && middle[0] === GLOBSTAR)) return true;
  return middle.length === 2 && middle[0] === SEGMENTS && middle[1] === STAR && !suffix.includes('/');
}

function tokensOf(pattern: string): number[] {
  // URLs carry other letters escaped; users write them as they are.
  let text = pattern.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
  if (!text.startsWith('/')) text = text.startsWith('**') ? `/${text}` : `/**/${text}`;
  if (text.endsWith('/')) text += '**';
  const tokens: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '*') tokens.push(text.charCodeAt(at));
    else if (tokens.at(-1) === STAR || tokens.at(-1) === GLOBSTAR) tokens[tokens.length - 1] = GLOBSTAR;
    else tokens.push(STAR);
  }
  return withEmptyMiddle(tokens);
}

/** `/` + `**` + `/` also stands for a single slash: the second slash is dropped, and the star may end in front of it. */
function withEmptyMiddle(tokens: readonly number[]): number[] {
  const result: number[] = [];
  for (let at = 0; at < tokens.length; at++) {
    result.push(tokens[at]!);
    const middle = tokens[at] === SLASH && tokens[at + 1] === GLOBSTAR && tokens[at + 2] === SLASH;
    if (middle) {
      result.push(SEGMENTS);
      at += 2;
    }
  }
  return result;
}

/** The letters up to the first star; of a list turned round, in the order of the text. */
function lettersOf(tokens: readonly number[], turned = false): string {
  const end = tokens.findIndex(token => token < 0);
  const letters = end < 0 ? tokens : tokens.slice(0, end);
  return String.fromCharCode(...(turned ? letters.toReversed() : letters));
}

/**
 * Walks all readings of the pattern side by side: `now` holds the places in the pattern that the text so far can have
 * led to, the furthest at `top`. Each character moves every place at most once.
 */
function machine(tokens: readonly number[]): (text: string, from: number) => boolean {
  const end = tokens.length;
  let now = new Uint8Array(end + 1);
  let then = new Uint8Array(end + 1);
  return (text, from) => {
    now.fill(0);
    then.fill(0);
    let top = enter(tokens, now, 0);
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      let reached = -1;
      for (let place = 0; place <= top; place++) {
        if (now[place] === 0) continue;
        now[place] = 0; // this array is the next one's turn
        if (place < end) reached = Math.max(reached, step(tokens, then, place, code));
      }
      if (reached < 0) return false;
      top = reached;
      [now, then] = [then, now];
    }
    return now[end] === 1;
  };
}

/** One character from one place; the furthest place it leads to, -1 when it does not fit. */
function step(tokens: readonly number[], then: Uint8Array, place: number, code: number): number {
  const token = tokens[place]!;
  if (token === code) return enter(tokens, then, place + 1);
  if (token === GLOBSTAR || (token === STAR && code !== SLASH) || (token === SEGMENTS && code === SLASH)) {
    return enter(tokens, then, place);
  }
  if (token !== SEGMENTS) return -1;
  then[place] = 1; // in the middle of a segment: it cannot end here
  return place;
}

/** Marks a place, and the next ones too while what stands there may stand for nothing; returns the last. */
function enter(tokens: readonly number[], places: Uint8Array, from: number): number {
  let place = from;
  places[place] = 1;
  while (place < tokens.length && tokens[place]! < 0) places[++place] = 1;
  return place;
}
