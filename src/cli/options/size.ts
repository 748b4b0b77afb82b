/** Sizes as users write them. */
import { SkeinError } from '../../base/errors.ts';

/** `5MB`, `300 kB`, `1024` → bytes. */
export function parseSize(text: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|kib|mib|gib)?\s*$/i.exec(String(text));
  if (!match) throw new SkeinError('bad-option', `"${text}" is not a size.`, 'Write it as 500kB, 16MB or 1GB.');
  const units: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };
  return Math.round(Number(match[1]) * units[(match[2] ?? 'b').toLowerCase()]!);
}
