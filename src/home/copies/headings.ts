/**
 * The headings of an HTML page, one a line, and the names that it defines: terms of its lists that can be linked to
 * (`<dt id="os.path.join">`), as manuals have them for each function and setting. Reads on, whatever is left open, in time
 * that grows with the page only.
 */

/** Headings and names of one page, characters of one, and characters of a tag in which its id stands. */
const MOST = 400;
const LONGEST = 400;
const LONGEST_NAME = 80;
const opening = /<(?:h[1-6](?=[\s>/])|dt\s(?=[^<>]{0,200}\bid=))/gi;

export function headingsOf(html: string): string {
  const found: string[] = [];
  opening.lastIndex = 0;
  for (let match = opening.exec(html); match && found.length < MOST; match = opening.exec(html)) {
    // Markup inside a heading may be long; what is beyond belongs to one that was never closed.
    const rest = html.slice(opening.lastIndex, opening.lastIndex + LONGEST * 4);
    const inside = rest.indexOf('>') + 1;
    const isName = match[0].length > 3;
    const end = rest.search(isName ? /<\/dt|<d[dt]/i : /<\/h[1-6]/i);
    if (inside === 0 || end < inside) continue;
    const text = plain(rest.slice(inside, end), isName ? '' : ' ');
    const name = isName ? nameOf(text) : text;
    if (name !== '') found.push(name);
    opening.lastIndex += end;
  }
  return found.join('\n');
}

/** Without what it is given: `os.path.join(path, *paths)`. Longer ones are sentences. */
function nameOf(term: string): string {
  const name = term.replace(/(?<=[\w\]]) ?\(.*/, '').trim();
  return name.length > LONGEST_NAME ? '' : name;
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
};

/** `between`: what stands for a tag; a name is whole, however its parts are marked up. */
function plain(markup: string, between: string): string {
  return markup
    .replace(/<[^>]*>/g, between)
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
    })
    .replace(/[\s¶]+/g, ' ')
    .trim()
    .slice(0, LONGEST);
}
