/**
 * Memory for bodies, used again once their pages are packed. A body that waits for the collector instead counts against
 * the heap of its thread, which is then searched as a whole every second of a fast crawl; and what was filled a moment
 * ago still lies in the processor's caches.
 *
 * Whoever gives a body back must not look at it any more. Not to give it back costs nothing but that. Invariant: only what
 * was taken from here is taken back, and once: two bodies in one memory, or a body in memory that Node shares among small
 * buffers, would be pages that nobody sent.
 */

/** Sizes are powers of two from 4 KiB to 1 MiB; a larger body is alone with its memory. */
const SMALLEST = 12;
const LARGEST = 20;
/** Held of each size: about as many as are under way at once. */
const MOST = 16;

export class BodyMemory {
  readonly #free: ArrayBuffer[][] = Array.from({ length: LARGEST - SMALLEST + 1 }, () => []);
  readonly #taken = new WeakSet<ArrayBufferLike>();

  /** At least `length` bytes, filled with whatever was there. */
  take(length: number): Uint8Array {
    if (length > 1 << LARGEST) return Buffer.allocUnsafeSlow(length);
    const size = sizeOf(length);
    const memory = this.#free[size - SMALLEST]!.pop() ?? Buffer.allocUnsafeSlow(1 << size).buffer;
    this.#taken.add(memory);
    return Buffer.from(memory);
  }

  giveBack({ buffer }: Uint8Array): void {
    if (!this.#taken.delete(buffer)) return;
    const free = this.#free[sizeOf(buffer.byteLength) - SMALLEST];
    // Memory that was handed to another thread meanwhile is empty, and of no size that is held.
    if (free && free.length < MOST) free.push(buffer as ArrayBuffer);
  }
}

function sizeOf(length: number): number {
  return Math.max(SMALLEST, 32 - Math.clz32(length - 1));
}
