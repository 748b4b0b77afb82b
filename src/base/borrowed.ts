/**
 * A view of memory that its owner writes over at the next call. It reads like the array, and slice() is a copy that stays;
 * what wants an array of its own does not take it, so nobody keeps it by accident.
 */
export interface Borrowed<A extends Uint8Array | Uint32Array> extends ArrayLike<number> {
  slice(start?: number, end?: number): A;
}

/** The array itself, for somebody who is done with it before its owner is called again: a hash, a statement, a copy. */
export function lent<A extends Uint8Array | Uint32Array>(view: Borrowed<A>): A {
  return view as unknown as A;
}
