import { type Packer, type PackOptions, packer } from './pack.ts';

/** Packers own large buffers; a thread with a thousand slow errands must not own a thousand of those. */
export class PackerPool {
  readonly #idle: Packer[] = [];
  readonly #options: PackOptions;

  constructor(options: PackOptions = {}) {
    this.#options = options;
  }

  take(): Packer {
    return this.#idle.pop() ?? packer({ firstBytes: 1 << 16, ...this.#options });
  }

  giveBack(packer: Packer): void {
    if (this.#idle.length < 4) this.#idle.push(packer);
  }
}
