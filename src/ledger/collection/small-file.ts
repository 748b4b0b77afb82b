/** A small file in a data directory that holds one JSON object. */
import { readFileSync } from 'node:fs';
import type { SkeinError } from '../../base/errors.ts';

/** Its fields; undefined = there is no such file. Throws `damaged` where it holds anything else. */
export function readSmallFile(file: string, damaged: SkeinError): Readonly<Record<string, unknown>> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below says so in a sentence.
  }
  throw damaged;
}
