/** What is taken for noise on a page, for people; and how they lift it. */
import { type Mask, type Saved, ServerKnowledge } from '../judge/knowledge.ts';
import { Places, type SavedPlaces } from '../judge/places.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface ShownMask {
  readonly evidence: Mask['evidence'];
  /** What differed there last, or the token with stars for what varies. */
  readonly told: string;
  /** The evidence in a sentence. */
  readonly because: string;
}

export function masksOn(ledger: Ledger, page: number, server: number): ShownMask[] {
  const { knowledge, places } = knownOf(ledger, page, server);
  return knowledge.masks(places).map(mask => ({ evidence: mask.evidence, told: mask.told, because: because(mask) }));
}

/** Lifts the masks of a page, also those that all pages of its server have. Inside the caller's transaction. */
export function unmask(ledger: Ledger, page: number, server: number): number {
  const { knowledge, places } = knownOf(ledger, page, server);
  const lifted = knowledge.lift(places);
  if (lifted > 0) ledger.masks.putServer(server, knowledge.save());
  return lifted;
}

export function liftedInWords(masks: number): string {
  if (masks === 0) return 'This page has no masks.';
  return `${masks === 1 ? 'One mask is' : `${masks} masks are`} removed: differences there count as changes again.`;
}

function knownOf(ledger: Ledger, page: number, server: number): { knowledge: ServerKnowledge; places: Places } {
  const knowledge = new ServerKnowledge(ledger.masks.ofServer<Saved>(server));
  return { knowledge, places: new Places(ledger.masks.ofPage<SavedPlaces>(page)) };
}

const looks = (count = 0): string => (count === 1 ? 'one second look' : `${count} second looks`);

function because({ evidence, differed, agreed }: Mask): string {
  switch (evidence) {
    case 'looks':
      return `${looks(differed)} a moment later differed there, ${agreed} agreed`;
    case 'looks-elsewhere':
      return 'a second look a moment later differed there, and so did looks at other pages of the server';
    case 'token':
      return 'second looks at pages of the server found another one each time, and so did one at each page where it counts';
    case 'everywhere':
      return 'on most pages of the server another one came at the same time, on each its own';
    case 'swing':
      return 'the token swings between the same values on pages of the server';
    case 'returned':
      return `${looks(differed)} a moment later differed there, ${agreed} agreed: values that it had before are no news`;
  }
}
