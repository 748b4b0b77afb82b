import { type Packer, packer } from './pack.ts';

/** Packers own large buffers; a thread with a thousand slow errands must not own a thousand of those. */
export class PackerPool {
  readonly #idle: Packer[] = [];

  take(): Packer {
    return this.#idle.pop() ?? packer({ firstBytes: 1 << 16 });
  }

  giveBack(packer: Packer): void {
    if (this.#idle.length < 4) this.#idle.push(packer);
  }
}
