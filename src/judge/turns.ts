/** The pieces of a reference that became others, as edits carry them: hashes. Pure. */
import { hashOf } from './hash.ts';
import { type Names, turnsOf } from './stems.ts';

/** A piece of a reference that became another; hashes. */
export interface TokenTurn {
  readonly before: number;
  readonly after: number;
  /** Both are words or numbers that a person would write. */
  readonly spoken: boolean;
  /** Both are longer than what names a video, a story or a file. */
  readonly signed: boolean;
  readonly names: Names;
  /** What stands around it, from all of the reference to what is next to it. */
  readonly around: readonly number[];
}

export function tokenTurns(before: string, after: string): TokenTurn[] {
  return turnsOf(before, after).map(turn => {
    return {
      before: hashOf(turn.before),
      after: hashOf(turn.after),
      spoken: turn.spoken,
      signed: turn.signed,
      names: turn.names,
      around: turn.around.map(hashOf),
    };
  });
}
