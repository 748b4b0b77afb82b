/** What outposts report, each thing said once: people read it, and the same sentence every second would hide the others. */
import { SkeinError } from '../../base/errors.ts';
import type { Carrier } from '../../transfer/carrier.ts';

export class OutpostReports {
  readonly #say: (text: string) => void;
  /** By outpost, what was last said: why it takes no more, and what went wrong while it works on. */
  readonly #full = new Map<string, string>();
  readonly #trouble = new Map<string, string>();
  readonly #gaveUp = new Map<string, string>();
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

  /** A machine that cannot do its work says so for each errand. */
  gaveUp(name: string, why: string): void {
    if (this.#gaveUp.get(name) !== why) this.#say(`${name} gave an errand up: ${why.replace(/\.$/, '')}.`);
    this.#gaveUp.set(name, why);
    this.#trouble.set(name, why);
  }

  /** Why no machine takes any errand, as the last ones said. */
  get refusals(): string {
    return [...this.#gaveUp].map(([name, why]) => `${name} says: ${why.replace(/\.$/, '')}`).join('; ');
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
    this.#say(
      why === '' ? `The outpost ${name} accepts errands again.` : `The outpost ${name} accepts no errands: ${why}`,
    );
  }
}

export function nobodyWorks(why: string): SkeinError {
  return new SkeinError(
    'refused',
    `No machine takes these errands. ${why}.`,
    'Fix that, crawl from this machine too with --set threads=2, or name another --outpost.',
  );
}

export function nobodyToRelyOn(): SkeinError {
  return new SkeinError(
    'refused',
    'All machines are quarantined.',
    'Crawl from this machine too with --set threads=2, name another --outpost, or see "skein outpost forgive --help".',
  );
}
