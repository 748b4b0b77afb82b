/** Which partitions a question is about. */
import type { Reader, ReadPartition } from '../reader.ts';

/** Those that have a server, told by its number, and its number there; all where none is named. */
export function concerned(
  reader: Reader,
  server: number,
): { readonly parts: readonly ReadPartition[]; readonly server: number } {
  if (server === 0) return { parts: reader.parts, server: 0 };
  const place = reader.placeOf(server);
  return place ? { parts: [place.part], server: place.local } : { parts: [], server: 0 };
}
