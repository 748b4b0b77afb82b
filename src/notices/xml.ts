/**
 * A pull scanner for the XML that sites publish about themselves. Tolerant: it reports what it sees and never throws,
 * whatever the bytes. It defines no entities and fetches nothing, so neither external entities nor entity bombs exist
 * for it. Time is linear in the text: every search that fails ends the document.
 */
import { gunzipSync, constants as zlib } from 'node:zlib';

export class XmlScanner {
  readonly #text: string;
  #at = 0;
  #attributes = '';

  /** What the last `next` found. */
  kind: 'open' | 'close' | 'text' = 'text';
  /** Namespace prefix as written, empty = none. */
  prefix = '';
  /** Local name in lower case, of an element that opens or closes. */
  name = '';
  /** An opening tag that closes itself; no `close` follows. */
  empty = false;
  /** Text with its entities resolved. */
  value = '';

  constructor(text: string) {
    this.#text = text;
  }

  /** Goes on to the next tag or piece of text; false at the end. */
  next(): boolean {
    const text = this.#text;
    while (this.#at < text.length) {
      const from = this.#at;
      if (text.charCodeAt(from) !== LESS) {
        const to = text.indexOf('<', from);
        return this.#foundText(decodeEntities(text.slice(from, to < 0 ? text.length : to)), to);
      }
      const next = text.charCodeAt(from + 1);
      if (next === SLASH) return this.#foundClose(from + 2);
      if (isNameStart(next)) return this.#foundOpen(from + 1);
      if (text.startsWith('<![CDATA[', from)) {
        const end = text.indexOf(']]>', from + 9);
        return this.#foundText(text.slice(from + 9, end < 0 ? text.length : end), end < 0 ? -1 : end + 3);
      }
      if (next !== BANG && next !== QUESTION) return this.#foundText('<', from + 1);
      this.#at = this.#afterMarkup(from);
    }
    return false;
  }

  /** The attribute of the element that just opened, by its name as written without regard to case; empty = none. */
  attribute(name: string): string {
    const text = this.#attributes;
    for (let at = 0; ; ) {
      const equals = text.indexOf('=', at);
      if (equals < 0) return '';
      const key = text.slice(at, equals).trim();
      let start = equals + 1;
      while (text.charCodeAt(start) <= 32) start++;
      const quote = text[start];
      const quoted = quote === '"' || quote === "'";
      let end = quoted ? text.indexOf(quote, start + 1) : start;
      if (!quoted) while (end < text.length && text.charCodeAt(end) > 32) end++;
      if (end < 0) end = text.length;
      if (key.toLowerCase() === name) return decodeEntities(text.slice(quoted ? start + 1 : start, end)).trim();
      at = end + 1;
    }
  }

  #foundText(value: string, at: number): true {
    this.kind = 'text';
    this.value = value;
    this.#at = at < 0 ? this.#text.length : at;
    return true;
  }

  #foundClose(from: number): true {
    const end = this.#text.indexOf('>', from);
    this.#named(this.#text.slice(from, end < 0 ? this.#text.length : end).trim());
    this.kind = 'close';
    this.#at = end < 0 ? this.#text.length : end + 1;
    return true;
  }

  #foundOpen(from: number): true {
    const text = this.#text;
    let nameEnd = from;
    while (nameEnd < text.length && !endsName(text.charCodeAt(nameEnd))) nameEnd++;
    this.#named(text.slice(from, nameEnd));
    const end = this.#tagEnd(nameEnd);
    this.kind = 'open';
    this.empty = text.charCodeAt(end - 1) === SLASH;
    this.#attributes = text.slice(nameEnd, this.empty ? end - 1 : end);
    this.#at = end + 1;
    return true;
  }

  #named(name: string): void {
    const colon = name.indexOf(':');
    this.prefix = colon < 0 ? '' : name.slice(0, colon);
    this.name = (colon < 0 ? name : name.slice(colon + 1)).toLowerCase();
  }

  /** Index of the `>` that ends a tag: not one within quotes, unless the quote never ends. */
  #tagEnd(from: number): number {
    const text = this.#text;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === GREATER) return at;
      if (code !== 34 && code !== 39) continue;
      const closing = text.indexOf(text[at]!, at + 1);
      if (closing >= 0) at = closing;
    }
    return text.length;
  }

  /** Behind a comment, a processing instruction or a document type with its internal subset. */
  #afterMarkup(from: number): number {
    const text = this.#text;
    const closing = text.startsWith('<!--', from) ? '-->' : text.charCodeAt(from + 1) === QUESTION ? '?>' : '>';
    let end = text.indexOf(closing, from + (closing === '-->' ? 4 : 2));
    if (closing === '>' && end >= 0 && text.slice(from, end).includes('[')) {
      const subsetEnd = text.indexOf(']', end);
      end = subsetEnd < 0 ? -1 : text.indexOf('>', subsetEnd);
    }
    return end < 0 ? text.length : end + closing.length;
  }
}

const BANG = 33;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const QUESTION = 63;

function isNameStart(code: number): boolean {
  const letter = code | 32;
  return (letter >= 97 && letter <= 122) || code === 95 || code >= 128;
}

function endsName(code: number): boolean {
  return code <= 32 || code === SLASH || code === GREATER;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Characters of one text or attribute: no address or date is as long, and sixteen megabytes of &amp; took 600 MB. */
const LONGEST_TEXT = 65_536;

/** The five of XML (and the one that everybody forgets to declare), and numbers; anything else stays as written. */
function decodeEntities(written: string): string {
  const text = written.length > LONGEST_TEXT ? written.slice(0, LONGEST_TEXT) : written;
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code === 0 || code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

/** Bytes as text: decompressed, and decoded by byte order mark, XML declaration, or as UTF-8. */
interface Unpacked {
  readonly text: string;
  readonly problems: readonly string[];
}

export function unpack(bytes: Uint8Array, limit: number): Unpacked {
  const problems: string[] = [];
  let plain = bytes;
  // Twice, for the .gz file that a server compresses once more.
  for (let round = 0; round < 2 && plain[0] === 0x1f && plain[1] === 0x8b; round++) {
    try {
      // A file that breaks off is read as far as it goes.
      plain = gunzipSync(plain, { maxOutputLength: limit, finishFlush: zlib.Z_SYNC_FLUSH });
    } catch (error) {
      const large = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { text: '', problems: [large ? `more than ${limit} bytes when decompressed` : 'damaged gzip'] };
    }
  }
  if (plain.length > limit) {
    problems.push(`more than ${limit} bytes; the rest is ignored`);
    plain = plain.subarray(0, limit);
  }
  return { text: decode(plain, problems), problems };
}

function decode(bytes: Uint8Array, problems: string[]): string {
  const [first, second] = bytes;
  let label = 'utf-8';
  if (first === 0xfe && second === 0xff) label = 'utf-16be';
  else if (first === 0xff && second === 0xfe) label = 'utf-16le';
  else if (first !== 0xef) {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200)).toString('latin1');
    label = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(head)?.[1] ?? label;
    // A declaration that could be read byte by byte is not UTF-16, whatever it says.
    if (/^utf-?16/i.test(label)) label = 'utf-8';
  }
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    problems.push(`unknown encoding ${label}`); // the ASCII of URLs and dates survives a wrong guess
    return new TextDecoder().decode(bytes);
  }
}
