/** Dials a machine again, until stopped, whenever its line is gone: soon at first, then ever more seldom. */
import type { Clock } from '../base/clock.ts';

/** Milliseconds: between looks at a line that holds, before the first attempt and before any. */
const LOOK = 250;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;

interface RedialParts {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  connected(): boolean;
  dial(): Promise<void>;
  /** Its line is there again. */
  back(): void;
  /** It cannot be reached, for another reason than the last time. */
  failed(message: string): void;
}

export async function keepDialling({ clock, stop, connected, dial, back, failed }: RedialParts): Promise<void> {
  let wait = FIRST_WAIT;
  let said = '';
  while (!stop.aborted) {
    await clock.sleep(connected() ? LOOK : wait, stop);
    if (stop.aborted || connected()) continue;
    try {
      await dial();
      back();
      wait = FIRST_WAIT;
      said = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== said) failed(message);
      said = message;
      wait = Math.min(LONGEST_WAIT, wait * 2);
    }
  }
}
