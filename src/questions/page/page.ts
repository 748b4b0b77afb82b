/** Questions about one page, by its URL: only the partition of its host can answer. */
import { type LookedUpPage, lookUp, neverHeard, urlsMeant } from '../../home/answers/lookup.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { ELSEWHERE } from '../../ledger/outbox/border.ts';
import type { PartitionReader } from '../partition-reader.ts';
import type { Question } from '../question.ts';

export interface AboutPage {
  /** Normalised URLs that the user may mean, the likeliest first. */
  readonly urls: readonly string[];
  /** Milliseconds since 1970, by the clock of who asks. */
  readonly now: number;
}

/** The arguments for a URL as a person typed it. */
export function aboutUrl(text: string, now = Date.now()): AboutPage {
  return { urls: urlsMeant(text), now };
}

/** The page that is meant, if it belongs to this partition. */
export function ownPage(ledger: Ledger, urls: readonly string[]): LookedUpPage | undefined {
  const found = lookUp(ledger, urls);
  return found?.page.refused === ELSEWHERE ? undefined : found;
}

/** A question whose part, and answer, is what `tell` returns; the page is unknown where no partition has it. */
export function pageQuestion<Part, Args extends AboutPage = AboutPage>(
  name: string,
  tell: (reader: PartitionReader, found: LookedUpPage, args: Args) => Part | Promise<Part>,
): Question<Args, Part | null, Part> {
  return {
    name,
    about: ({ urls }) => urls,
    ask(reader, args) {
      const found = ownPage(reader.ledger, args.urls);
      return found ? tell(reader, found, args) : null;
    },
    merge({ urls }, parts) {
      const part = parts.find(each => each !== null);
      if (part === undefined) throw neverHeard(urls[0]!);
      return part as Part;
    },
  };
}
