/** The headings of an HTML page, one a line. Reads on, whatever is left open, in time that grows with the page only. */

/** Headings of one page, and characters of one heading. */
const MOST = 200;
const LONGEST = 400;
const opening = /<h[1-6](?=[\s>/])/gi;

export function headingsOf(html: string): string {
  const found: string[] = [];
  opening.lastIndex = 0;
  for (let match = opening.exec(html); match && found.length < MOST; match = opening.exec(html)) {
    // Markup inside a heading may be long; what is beyond belongs to one that was never closed.
    const rest = html.slice(opening.lastIndex, opening.lastIndex + LONGEST * 4);
    const inside = rest.indexOf('>') + 1;
    const end = rest.search(/<\/h[1-6]/i);
    if (inside === 0 || end < inside) continue;
    const text = plain(rest.slice(inside, end));
    if (text !== '') found.push(text);
    opening.lastIndex += end;
  }
  return found.join('\n');
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

function plain(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
    })
    .replace(/[\s¶]+/g, ' ')
    .trim()
    .slice(0, LONGEST);
}
