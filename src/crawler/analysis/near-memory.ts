/** Whether a page nearly equals one of the last few hundred: enough to see a trap, whose pages come in runs. */
import { factsAt } from '../../errand/facts.ts';

const REMEMBERED = 256;
/** Bits of 64 in which near copies may differ. */
const DISTANCE = 3;

export class NearMemory {
  readonly #halves = new Uint32Array(REMEMBERED * 2);
  #added = 0;

  /** Remembers the page, too. */
  isCopy(facts: Uint8Array): boolean {
    if (facts.length < factsAt.simhash + 8) return false;
    const view = new DataView(facts.buffer, facts.byteOffset, facts.byteLength);
    const high = view.getUint32(factsAt.simhash);
    const low = view.getUint32(factsAt.simhash + 4);
    if (high === 0 && low === 0) return false; // no text: all such pages would be alike
    let copy = false;
    for (let at = 0; at < Math.min(this.#added, REMEMBERED) && !copy; at++) {
      copy = bits(this.#halves[at * 2]! ^ high) + bits(this.#halves[at * 2 + 1]! ^ low) <= DISTANCE;
    }
    const place = (this.#added++ % REMEMBERED) * 2;
    this.#halves[place] = high;
    this.#halves[place + 1] = low;
    return copy;
  }
}

function bits(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
