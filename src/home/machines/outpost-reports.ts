/** What outposts report, each thing said once: people read it, and the same sentence every second would hide the others. */
import { SkeinError } from '../../base/errors.ts';
import type { Carrier } from '../../transfer/carrier.ts';

export class OutpostReports {
  readonly #say: (text: string) => void;
  /** By outpost, what was last said: why it takes no more, and what went wrong while it works on. */
  readonly #full = new Map<string, string>();
  readonly #trouble = new Map<string, string>();
  #turned = '';

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Who was not let in is told of once, however often it knocks. False: it speaks no Skein, and is passed over. */
  turnedAway(error: unknown): boolean {
    if (!(error instanceof SkeinError) || error.code === 'bad-frame') return false;
    if (error.code === 'internal' && !error.message.includes('approve')) return false;
    if (error.message !== this.#turned) this.#say(error.message);
    this.#turned = error.message;
    return true;
  }

  gaveUp(name: string, why: string): void {
    this.#say(`${name} gave an errand up: ${why.replace(/\.$/, '')}.`);
    this.#trouble.set(name, why);
  }

  changed({ name, status }: Carrier): void {
    this.#saysFull(name, status?.state === 'full' ? status.trouble : '');
    const trouble = status?.state === 'working' ? status.trouble : '';
    if (trouble !== '' && trouble !== this.#trouble.get(name)) this.#say(`${name}: ${trouble}`);
    this.#trouble.set(name, trouble);
  }

  #saysFull(name: string, why: string): void {
    if ((this.#full.get(name) ?? '') === why) return;
    this.#full.set(name, why);
    this.#say(why === '' ? `The outpost ${name} goes on.` : `The outpost ${name} takes no more: ${why}`);
  }
}
