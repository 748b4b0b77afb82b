/** The file that `--decider` names: code that decides about pages, here and wherever errands travel. */
import { readFileSync } from 'node:fs';
import { SkeinError, systemWords } from '../../base/errors.ts';

export function readDecider(file: string): Uint8Array {
  if (!/\.(wasm|m?js)$/.test(file)) {
    throw new SkeinError('bad-option', `${file} is neither WebAssembly nor JavaScript.`, 'Name a .wasm or a .js file.');
  }
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SkeinError('bad-option', `The decider ${file} cannot be read: ${systemWords(error)}.`);
  }
}
