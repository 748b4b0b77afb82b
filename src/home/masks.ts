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
  if (lifted > 0) ledger.servers.masks.putServer(server, knowledge.save());
  return lifted;
}

export function liftedInWords(masks: number): string {
  if (masks === 0) return 'This page has no masks.';
  return `${masks === 1 ? 'One mask is' : `${masks} masks are`} removed: differences there count as changes again.`;
}

function knownOf(ledger: Ledger, page: number, server: number): { knowledge: ServerKnowledge; places: Places } {
  const knowledge = new ServerKnowledge(ledger.servers.masks.ofServer<Saved>(server));
  return { knowledge, places: new Places(ledger.servers.masks.ofPage<SavedPlaces>(page)) };
}

const looks = (count = 0): string => (count === 1 ? 'one second look' : `${count} second looks`);

function because({ evidence, differed, agreed }: Mask): string {
  switch (evidence) {
    case 'looks':
      return `${looks(differed)} moments later differed there, ${agreed} did not`;
    case 'looks-elsewhere':
      return 'a second look moments later differed there, and so did second looks at other pages of the server';
    case 'token':
      return 'each second look at a page of the server found another value, including one on this page';
    case 'everywhere':
      return 'half of the pages looked at, or the same ones again, got a new value at the same time, each a different one';
    case 'swing':
      return 'the value alternates between the same few on pages of the server';
    case 'returned':
      return `${looks(differed)} moments later differed there, ${agreed} did not: values that it had before do not count`;
  }
}
