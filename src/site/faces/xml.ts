/** XML as the standard faces write it. */

/** Text or attribute; characters that XML has no place for are left out. */
export function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

/** W3C date and time, whole seconds. */
export function dateTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** The same with milliseconds: of changes, readers go on behind the last that they know. */
export function instant(time: number): string {
  return new Date(time).toISOString();
}

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
export const SITEMAP_NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';
