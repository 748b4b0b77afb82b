import { KEPT_BYTES, type Packer, type PackOptions, packer } from './pack.ts';

/** Packers, and buffers for them, that wait. */
const MOST = 4;

/** Packers own large buffers; a thread with a thousand slow errands must not own a thousand of those. */
export class PackerPool {
  readonly #idle: Packer[] = [];
  readonly #memory: Uint8Array<ArrayBuffer>[] = [];
  readonly #options: PackOptions;

  constructor(options: PackOptions = {}) {
    this.#options = options;
  }

  take(): Packer {
    const taken = this.#idle.pop() ?? packer({ firstBytes: 1 << 16, ...this.#options });
    const memory = this.#memory.pop();
    if (memory) taken.reuse(memory);
    return taken;
  }

  /** Members that were handed over have been read: what they lay in is good for the next. */
  refill(members: Uint8Array<ArrayBuffer>): void {
    const { byteLength } = members.buffer;
    if (byteLength > 0 && byteLength <= KEPT_BYTES && this.#memory.length < MOST) this.#memory.push(members);
  }

  giveBack(packer: Packer): void {
    if (this.#idle.length < MOST) this.#idle.push(packer);
  }
}
