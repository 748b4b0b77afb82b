/**
 * Code that travels to a standing outpost: named by its digest, signed by home, kept on the outpost's disk. The owner of
 * the machine says whose code may come (the keys pinned when it joined, or named since); home cannot add to that list.
 *
 * Refused are: unknown keys, wrong signatures, contents other than those signed, code that is past its date, and code
 * older than what the same key has brought before, so that nobody can bring back a version with a known hole.
 */
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { type Identity, isKey, verify } from '../../errand/keys.ts';

export interface CodeTerms {
  /** What it is for: versions are compared among codes of one name. */
  readonly name: string;
  /** Grows with every release. */
  readonly version: number;
  /** Milliseconds since 1970 after which it may not be started any more. */
  readonly expires: number;
}

interface SignedCode extends CodeTerms {
  /** Who signed it. */
  readonly key: string;
  /** SHA-256 of the contents, hexadecimal. */
  readonly digest: string;
  readonly signature: Uint8Array;
}

const DIGEST = /^[0-9a-f]{64}$/;
/** Bytes of one code, and of all that are kept. */
const LARGEST = 16 << 20;
const MOST = 256 << 20;
/** Names that one key may use, and characters of one: each is remembered for good. */
const MOST_NAMES = 20;
const LONGEST_NAME = 100;

export function signCode(home: Identity, bytes: Uint8Array, terms: CodeTerms): SignedCode {
  const unsigned = { ...terms, key: home.key, digest: hash('sha256', bytes) };
  return { ...unsigned, signature: home.sign(messageOf(unsigned)) };
}

export function encodeCode(code: SignedCode): Uint8Array {
  const out = new ByteWriter(512);
  out.bytes(messageOf(code));
  out.bytes(code.signature);
  return out.finish();
}

export function decodeCode(bytes: Uint8Array): SignedCode {
  const outer = new ByteReader(bytes);
  const from = new ByteReader(outer.bytes());
  const signature = outer.bytes();
  outer.end();
  if (from.text() !== PURPOSE) throw new SkeinError('bad-frame', 'The signed description of the code is malformed.');
  const code = {
    key: from.text(),
    name: from.text(),
    version: from.varint(),
    expires: from.double(),
    digest: from.text(),
  };
  from.end();
  if (!isKey(code.key) || !DIGEST.test(code.digest))
    throw new SkeinError('bad-frame', 'The signed description of the code is malformed.');
  return { ...code, signature };
}

const PURPOSE = 'skein code';

function messageOf({ key, name, version, expires, digest }: Omit<SignedCode, 'signature'>): Uint8Array {
  const out = new ByteWriter(512);
  out.text(PURPOSE);
  out.text(key);
  out.text(name);
  out.varint(version);
  out.double(expires);
  out.text(digest);
  return out.finish();
}

export class CodeStore {
  readonly #directory: string;
  readonly #trusted: ReadonlySet<string>;

  /** `trusted`: the keys that the owner of this machine allows. */
  constructor(directory: string, trusted: Iterable<string>) {
    this.#directory = directory;
    this.#trusted = new Set(trusted);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Takes the contents in; from now on older versions are refused. */
  take(code: SignedCode, bytes: Uint8Array, now: number): void {
    this.#check(code, now);
    if (bytes.length > LARGEST) throw refused(`it is larger than ${LARGEST} bytes`);
    if (hash('sha256', bytes) !== code.digest) throw refused('its contents are not those that were signed');
    const file = join(this.#directory, code.digest);
    replaceFile(`${file}.terms`, encodeCode(code), PRIVATE);
    replaceFile(file, bytes, PRIVATE);
    this.#remember(code);
    this.#sweep(code.digest);
  }

  /**
   * The contents with what was signed about them, checked once more: neither the disk nor the time since is trusted.
   * Undefined = it has to be sent, for the first time or with newer terms.
   */
  find(digest: string, now: number): { readonly terms: Uint8Array; readonly bytes: Uint8Array } | undefined {
    const file = join(this.#directory, `${digest}.terms`);
    const bytes = this.#read(digest);
    if (!bytes || !existsSync(file)) return undefined;
    try {
      const terms = readFileSync(file);
      this.#check(decodeCode(terms), now);
      return { terms, bytes };
    } catch {
      return undefined; // whoever sends it again hears what is wrong with it then
    }
  }

  #check(code: SignedCode, now: number): void {
    if (!this.#trusted.has(code.key)) throw refused('the owner of this machine does not trust who signed it');
    if (!verify(code.key, messageOf(code), code.signature)) throw refused('its signature is wrong');
    if (code.expires < now) throw refused('it has expired');
    const seen = this.#seen();
    const isNew = seen[seenName(code)] === undefined;
    const names = Object.keys(seen).filter(each => each.startsWith(`${code.key} `)).length;
    if (code.name.length > LONGEST_NAME || (isNew && names >= MOST_NAMES))
      throw refused('its signer sent too many names, or one that is too long');
    const newest = seen[seenName(code)] ?? 0;
    if (code.version < newest) throw refused(`version ${code.version} is older than ${newest}, which was here before`);
  }

  #read(digest: string): Uint8Array | undefined {
    const file = join(this.#directory, digest);
    if (!DIGEST.test(digest) || !existsSync(file)) return undefined;
    const bytes = readFileSync(file);
    if (hash('sha256', bytes) === digest) return bytes;
    rmSync(file, { force: true }); // damaged: it is sent again
    return undefined;
  }

  #seen(): Record<string, number> {
    const file = join(this.#directory, 'seen.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>) : {};
  }

  #remember(code: SignedCode): void {
    const seen = this.#seen();
    const newest = Math.max(seen[seenName(code)] ?? 0, code.version);
    replaceFile(join(this.#directory, 'seen.json'), JSON.stringify({ ...seen, [seenName(code)]: newest }), PRIVATE);
  }

  /** The oldest go first; the newest stays whatever its size. */
  #sweep(newest: string): void {
    const files = readdirSync(this.#directory)
      .filter(name => DIGEST.test(name) && name !== newest)
      .map(name => ({ name, ...pick(join(this.#directory, name)) }))
      .sort((a, b) => b.time - a.time);
    let bytes = 0;
    for (const file of files) {
      bytes += file.bytes;
      if (bytes <= MOST) continue;
      rmSync(join(this.#directory, file.name), { force: true });
      rmSync(join(this.#directory, `${file.name}.terms`), { force: true });
    }
  }
}

function pick(file: string): { time: number; bytes: number } {
  const { mtimeMs, size } = statSync(file);
  return { time: mtimeMs, bytes: size };
}

function seenName({ key, name }: SignedCode): string {
  return `${key} ${name}`;
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The code is refused: ${why}.`);
}
