/**
 * Memory for bodies, used again once their pages are packed. A body that waits for the collector instead counts against
 * the heap of its thread, which is then searched as a whole every second of a fast crawl; and what was filled a moment
 * ago still lies in the processor's caches.
 *
 * Whoever gives a body back must not look at it any more. Not to give it back costs nothing but that.
 */

/** Sizes are powers of two from 4 KiB to 1 MiB; a larger body is alone with its memory. */
const SMALLEST = 12;
const LARGEST = 20;
/** Held of each size: about as many as are under way at once. */
const MOST = 16;

export class BodyMemory {
  readonly #free: ArrayBuffer[][] = Array.from({ length: LARGEST - SMALLEST + 1 }, () => []);

  /** At least `length` bytes, filled with whatever was there. */
  take(length: number): Uint8Array {
    if (length > 1 << LARGEST) return Buffer.allocUnsafeSlow(length);
    const size = sizeOf(length);
    const free = this.#free[size - SMALLEST]!.pop();
    return free === undefined ? Buffer.allocUnsafeSlow(1 << size) : Buffer.from(free);
  }

  giveBack({ buffer }: Uint8Array): void {
    const { byteLength } = buffer;
    // Memory of another kind, or that was handed to another thread meanwhile.
    if (!(buffer instanceof ArrayBuffer) || byteLength < 1 << SMALLEST || byteLength > 1 << LARGEST) return;
    const size = sizeOf(byteLength);
    const free = this.#free[size - SMALLEST]!;
    if (byteLength === 1 << size && free.length < MOST) free.push(buffer);
  }
}

function sizeOf(length: number): number {
  return Math.max(SMALLEST, 32 - Math.clz32(length - 1));
}
