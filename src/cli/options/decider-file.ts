/** The file that `--decider` names: code that decides about pages, here and wherever errands travel. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SkeinError, systemWords } from '../../base/errors.ts';

export interface DeciderFile {
  /** SHA-256, as errands name it. */
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export function readDecider(file: string | undefined): DeciderFile | undefined {
  if (file === undefined) return undefined;
  if (!/\.(wasm|m?js)$/.test(file)) {
    throw new SkeinError('bad-option', `${file} is neither WebAssembly nor JavaScript.`, 'Name a .wasm or a .js file.');
  }
  try {
    const bytes = readFileSync(file);
    return { digest: hash('sha256', bytes), bytes };
  } catch (error) {
    throw new SkeinError('bad-option', `The decider ${file} cannot be read: ${systemWords(error)}.`);
  }
}
