/**
 * The deciders of one fetching thread, by the digest of their code: each in a cage of its own, started when the first
 * errand names it. Nothing here asks whose code it is: what gets this far was let in (code.ts).
 */
import { hash } from 'node:crypto';
import { SkeinError } from '../../base/errors.ts';
import type { Decider } from '../../crawler/decider.ts';
import { type CagedDecider, openDecider } from './caged-decider.ts';
import { type SandboxLimits, sandboxLimits } from './decider.ts';

export interface SandboxTerms {
  /** The code comes from the user who runs this process, and from nobody else. */
  readonly own: boolean;
  readonly limits?: Partial<SandboxLimits>;
}

/** Codes that stay at hand; the one that was named longest ago goes first. */
const MOST = 4;

export class Deciders {
  readonly #terms: SandboxTerms;
  readonly #say: (trouble: string) => void;
  readonly #codes = new Map<string, Uint8Array>();
  readonly #open = new Map<string, Promise<CagedDecider>>();

  /** `say` gets one sentence whenever code had to be ended. */
  constructor(terms: SandboxTerms, say: (trouble: string) => void) {
    this.#terms = terms;
    this.#say = say;
  }

  /** Errands may name this code from now on. */
  add(code: Uint8Array): void {
    const digest = hash('sha256', code);
    this.#codes.delete(digest);
    this.#codes.set(digest, code);
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > MOST) this.#codes.delete(oldest!);
  }

  /** Rejects with what is wrong with the code, now and whenever it is asked for again. */
  async get(digest: string): Promise<Decider> {
    const decider = await (this.#open.get(digest) ?? this.#start(digest));
    if (decider.over !== '') throw new SkeinError('refused', `The decider is not started again: ${decider.over}.`);
    return decider;
  }

  async close(): Promise<void> {
    const all = await Promise.allSettled(this.#open.values());
    await Promise.all(all.map(each => (each.status === 'fulfilled' ? each.value.close() : undefined)));
  }

  #start(digest: string): Promise<CagedDecider> {
    const code = this.#codes.get(digest);
    if (!code) return Promise.reject(new SkeinError('not-found', `The code ${digest.slice(0, 12)} is not here.`));
    const opening = this.#cage(code);
    this.#open.set(digest, opening);
    this.#sweep();
    return opening;
  }

  async #cage(code: Uint8Array): Promise<CagedDecider> {
    const limits = { ...sandboxLimits, ...this.#terms.limits };
    // Loaded by those who need one: what starts processes is a tenth of what a thread would load before its first request.
    const { Cages } = await import('./process-cage.ts');
    return openDecider(new Cages(code, { limits, own: this.#terms.own }), { time: limits.time, say: this.#say });
  }

  #sweep(): void {
    const [oldest] = this.#open;
    if (this.#open.size <= MOST || !oldest) return;
    this.#open.delete(oldest[0]);
    // One that never started needs no end.
    oldest[1].then(decider => decider.close()).catch(() => {});
  }
}

/** Starts the code once and ends it. Throws what is wrong with it. */
export async function tryDecider(code: Uint8Array, terms: SandboxTerms): Promise<void> {
  const deciders = new Deciders(terms, () => {});
  deciders.add(code);
  try {
    await deciders.get(hash('sha256', code));
  } finally {
    await deciders.close();
  }
}
