/**
 * All questions by name, with the form that their arguments and parts must have when they come from another machine: what
 * is longer, deeper or of another kind than this is refused as a whole. Loaded only where other machines are asked.
 *
 * `answerOf` is the peer's end: it answers for the partitions that it has. `partFrom` is the asker's: it believes nothing
 * that does not pass.
 */
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import { sliceOf } from './listing.ts';
import { copyQuestion, versionsQuestion } from './page/copies.ts';
import { historyQuestion } from './page/history.ts';
import { linksInQuestion, linksOutQuestion } from './page/links.ts';
import { showQuestion } from './page/show.ts';
import { whyQuestion } from './page/why.ts';
import type { PartitionReader } from './partition-reader.ts';
import type { Listing, Question } from './question.ts';
import * as forms from './schemas/forms.ts';
import * as search from './schemas/search-forms.ts';
import * as searching from './search/parts.ts';
import { accountQuestion } from './whole/account.ts';
import { changesListing, templateEditsQuestion } from './whole/changes.ts';
import { modelQuestion } from './whole/load-model.ts';
import { pagesListing } from './whole/pages.ts';
import { statusQuestion } from './whole/status.ts';
import { verifyQuestion } from './whole/verify.ts';

interface CatalogueEntry {
  readonly name: string;
  readonly args: z.ZodType;
  readonly part: z.ZodType;
  readonly answer: (reader: PartitionReader, args: unknown) => unknown;
}

function asked<Args, Part, Answer>(
  question: Question<Args, Part, Answer>,
  args: z.ZodType,
  part: z.ZodType,
): CatalogueEntry {
  return { name: question.name, args, part, answer: (reader, given) => question.ask(reader, given as Args) };
}

function listed<Args, Row>(listing: Listing<Args, Row>, args: z.ZodType, row: z.ZodType): CatalogueEntry {
  return {
    name: listing.name,
    args: z.object({ args, after: row.optional() }),
    part: z.object({ rows: z.array(row).max(forms.MOST_ROWS), more: z.boolean() }),
    answer: (reader, given) => sliceOf(listing, reader, given as { args: Args; after?: Row }),
  };
}

const entries: readonly CatalogueEntry[] = [
  asked(statusQuestion, forms.noArgs, forms.status),
  listed(pagesListing, forms.pagesWanted, forms.listedPage),
  asked(showQuestion, forms.aboutPage, forms.shown.nullable()),
  asked(whyQuestion, forms.aboutPage, forms.why.nullable()),
  asked(historyQuestion, forms.aboutPage, forms.history.nullable()),
  asked(linksOutQuestion, forms.aboutPage, forms.linksOut.nullable()),
  asked(linksInQuestion, forms.aboutPage, forms.links),
  asked(copyQuestion, forms.copyWanted, forms.copyTold.nullable()),
  asked(versionsQuestion, forms.versionsWanted, z.array(forms.copy.nullable()).max(forms.MOST_VERSIONS).nullable()),
  listed(changesListing, forms.changesWanted, forms.change),
  asked(templateEditsQuestion, forms.editsWanted, forms.templateEdits),
  asked(accountQuestion, forms.accountWanted, forms.accountPart),
  asked(modelQuestion, forms.noArgs, forms.modelFigures),
  asked(verifyQuestion, forms.noArgs, forms.verified),
  asked(searching.languagesQuestion, forms.noArgs, search.languages),
  asked(searching.wordsQuestion, search.wordsAsked, search.wordsTold),
  asked(searching.countsQuestion, search.countsAsked, search.countsTold),
  asked(searching.nearestQuestion, search.nearestAsked, search.nearestTold),
  asked(searching.statisticsQuestion, search.statisticsAsked, search.statistics),
  asked(searching.findQuestion, search.findAsked, search.foundPart),
  asked(searching.nearQuestion, search.nearAsked, search.nearTold),
  asked(searching.showHitsQuestion, search.showAsked, search.shownHits),
  asked(searching.spreadQuestion, search.spreadAsked, search.spread),
  asked(searching.inferredQuestion, search.inferredAsked, search.inferredTold),
  asked(searching.lagQuestion, forms.noArgs, search.lag),
  asked(searching.openedQuestion, search.openedAsked, z.boolean()),
];

const catalogue: ReadonlyMap<string, CatalogueEntry> = new Map(entries.map(entry => [entry.name, entry]));

function entryOf(name: string): CatalogueEntry {
  const entry = catalogue.get(name);
  if (entry) return entry;
  throw new SkeinError(
    'bad-option',
    `There is no question "${name.slice(0, 100)}".`,
    'The peers run different versions of Skein.',
  );
}

/** The names of all questions. */
export const questionNames: readonly string[] = [...catalogue.keys()];

/** What a partition answers to a question from another machine. */
export async function answerOf(reader: PartitionReader, name: string, args: unknown): Promise<unknown> {
  const entry = entryOf(name);
  const checked = entry.args.safeParse(args);
  if (!checked.success) throw malformed('question', name, checked.error);
  try {
    return await entry.answer(reader, checked.data);
  } catch (error) {
    if (error instanceof SkeinError) throw error;
    // What the form cannot check (an expression of a search, say) is found while it is answered.
    const why = (error as Error).message.slice(0, 200);
    throw new SkeinError('refused', `The question "${name}" cannot be answered: ${why}.`, undefined, { cause: error });
  }
}

/** A part that another machine told; throws where it is not what such a part can be. */
export function partFrom(name: string, part: unknown): unknown {
  const checked = entryOf(name).part.safeParse(part);
  if (!checked.success) throw malformed('answer', name, checked.error);
  return checked.data;
}

function malformed(what: 'question' | 'answer', name: string, error: z.ZodError): SkeinError {
  const [issue] = error.issues;
  const where = issue ? ` (${issue.path.join('.').slice(0, 100)}: ${issue.message.slice(0, 200)})` : '';
  return new SkeinError('refused', `A peer sent a malformed ${what} "${name}"${where}.`);
}
