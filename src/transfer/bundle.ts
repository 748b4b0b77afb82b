/**
 * The crawler as it travels: the files that an outpost needs, found by following imports from its entry, as JavaScript
 * in one compressed archive named by its digest. Types are stripped here, so that the far end needs no newer Node than
 * the code itself does, and wastes no time on it.
 *
 * It carries nothing from npm: what an outpost cannot run without imports only Node.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { SkeinError } from '../base/errors.ts';

interface Bundle {
  /** SHA-256 of the archive's contents, hexadecimal. */
  readonly digest: string;
  /** Brotli of JSON: file name → text, or → base64 for names that end in `.wasm`. */
  readonly bytes: Uint8Array;
  readonly files: readonly string[];
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Modules that are named only at run time, as the file of a thread is. */
const ENTRIES = ['outpost/stdio', 'outpost/workers/worker-thread'];
const IMPORT = /\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\('([^']+)'\)|new URL\('(\.[^']+\.wasm)'/g;

let made: Bundle | undefined;

export function makeBundle(): Bundle {
  made ??= gather(ENTRIES.map(entry => `${entry}${ending}`));
  return made;
}

export function gather(entries: readonly string[]): Bundle {
  const files: Record<string, string> = { 'package.json': '{"type":"module"}' };
  const waiting = [...entries];
  const seen = new Set(entries);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (path.endsWith('.wasm')) {
      files[path] = readFileSync(join(root, path)).toString('base64');
      continue;
    }
    const code = strip(readFileSync(join(root, path), 'utf8'));
    files[path.replace(/\.ts$/, '.js')] = code.replace(/(from |import\()'(\.[^']+)\.ts'/g, "$1'$2.js'");
    for (const target of importsOf(code, path)) {
      if (seen.has(target)) continue;
      seen.add(target);
      waiting.push(target);
    }
  }
  const contents = JSON.stringify(files);
  const bytes = brotliCompressSync(contents, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 },
  });
  return { digest: hash('sha256', contents), bytes, files: Object.keys(files) };
}

function strip(code: string): string {
  if (ending !== '.ts') return code;
  const { emitWarning } = process;
  process.emitWarning = () => {}; // that the function is experimental is no news for the user
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function importsOf(code: string, path: string): string[] {
  const targets: string[] = [];
  for (const match of code.matchAll(IMPORT)) {
    const name = match[1] ?? match[2] ?? match[3] ?? match[4]!;
    // A package that is asked for while running is one that can be done without.
    if (name.startsWith('node:') || (match[3] !== undefined && !name.startsWith('.'))) continue;
    if (!name.startsWith('.'))
      throw new SkeinError('internal', `${path} imports ${name}, which cannot be sent to another machine.`);
    targets.push(relative(root, join(root, dirname(path), name)).replaceAll('\\', '/'));
  }
  return targets;
}
