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
const SLASH = 47;

/** A matcher of `path + query`, as in `/docs/a.html?x=1`. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const tokens = tokensOf(pattern);
  const withQuery = pattern.includes('?');
  const prefix = literalPrefix(tokens);
  const rest = tokens.slice(prefix.length);
  const match = rest.length === 1 && rest[0] === GLOBSTAR ? undefined : machine(rest);
  return full => {
    const query = withQuery ? -1 : full.indexOf('?');
    const path = query < 0 ? full : full.slice(0, query);
    return path.startsWith(prefix) && (match === undefined || match(path, prefix.length));
  };
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

/** Any number of whole segments, each with its slash. */
const SEGMENTS = -3;

function literalPrefix(tokens: readonly number[]): string {
  const end = tokens.findIndex(token => token < 0);
  return String.fromCharCode(...(end < 0 ? tokens : tokens.slice(0, end)));
}

/**
 * Walks all readings of the pattern side by side: `now` holds the places in the pattern that the text so far can have
 * led to. Each character moves every place at most once.
 */
function machine(tokens: readonly number[]): (text: string, from: number) => boolean {
  const end = tokens.length;
  let now = new Uint8Array(end + 1);
  let then = new Uint8Array(end + 1);
  return (text, from) => {
    now.fill(0);
    enter(tokens, now, 0);
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      then.fill(0);
      let alive = false;
      for (let place = 0; place < end; place++) {
        if (now[place] !== 0 && step(tokens, then, place, code)) alive = true;
      }
      if (!alive) return false;
      [now, then] = [then, now];
    }
    return now[end] === 1;
  };
}

/** One character from one place; false when it does not fit. */
function step(tokens: readonly number[], then: Uint8Array, place: number, code: number): boolean {
  const token = tokens[place]!;
  if (token === GLOBSTAR) enter(tokens, then, place);
  else if (token === STAR && code !== SLASH) enter(tokens, then, place);
  else if (token === SEGMENTS && code === SLASH) enter(tokens, then, place);
  else if (token === SEGMENTS) then[place] = 1;
  else if (token === code) enter(tokens, then, place + 1);
  else return false;
  return true;
}

/** Marks a place, and the next ones too while what stands there may stand for nothing. */
function enter(tokens: readonly number[], places: Uint8Array, from: number): void {
  let place = from;
  places[place] = 1;
  while (place < tokens.length && tokens[place]! < 0) places[++place] = 1;
}
