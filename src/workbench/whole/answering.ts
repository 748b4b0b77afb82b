/**
 * Answers of the API over the whole collection: what is about one thing comes from whoever has its partition, and lists are
 * merged from all partitions, in the order that one machine would give them.
 */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import type { ListingPart } from '../../ledger/queries/listings.ts';
import { whatIsMissing } from '../../questions/collection.ts';
import { localNumber } from '../../questions/numbers.ts';
import type { ListShape, Route, RouteContext, SumShape } from '../api/route.ts';
import { AT_ITS_END, type Keyed, type ListPlace, mergedFrom, placesOf } from '../paging.ts';
import type { Reader } from '../reader.ts';
import { answerElsewhere, askedForm, type Others, partitionOf } from './whole.ts';

type Input = Record<string, unknown>;

/** How a route is named between peers. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

export async function answerWhole(route: Route, input: Input, context: RouteContext): Promise<unknown> {
  if (!route.about && !route.list && !route.sum) return route.answer(input, context);
  const others = await context.reader.whole.others();
  if (!others) return route.answer(input, context);
  const about = route.about?.(input);
  if (about !== undefined) {
    const partition =
      typeof about === 'string' ? partitionOf(others, about) : localNumber(about, others.partitions).partition;
    const asked = { route: nameOf(route), input };
    return (await answerElsewhere(others, partition, asked, route.output)) ?? route.answer(input, context);
  }
  if (route.sum) return sumWhole(route, route.sum, { input, context, others });
  return route.list ? listWhole(route, route.list, { input, context, others }) : route.answer(input, context);
}

/** The URL of a page, wherever it is. */
export async function urlOf(reader: Reader, page: number): Promise<string> {
  const others = await reader.whole.others();
  const asked = { route: 'get /pages/{id}', input: { id: page } };
  const told =
    others &&
    (await answerElsewhere(
      others,
      localNumber(page, others.partitions).partition,
      asked,
      z.object({ url: z.string() }),
    ));
  return told?.url ?? reader.page(page).page.url;
}

interface WholeAsking {
  readonly input: Input;
  readonly context: RouteContext;
  readonly others: Others;
}

/** Sums are told without those who do not answer, and say so: a number that is too small is better than no view at all. */
async function sumWhole(
  route: Route,
  sum: SumShape<Input, unknown>,
  { input, context, others }: WholeAsking,
): Promise<unknown> {
  const { reader } = context;
  const all = Array.from({ length: others.partitions }, (_, id) => id);
  const away = all.filter(id => !others.isHere(id));
  const here = reader.parts.filter(({ id }) => others.isHere(id));
  const asked = { route: nameOf(route), input, places: away.map(id => [id, null]) };
  const nobody = { answers: [], silent: [], unheld: [] };
  const { answers, silent, unheld } = away.length > 0 ? await others.ask(askedForm.parse(asked), away) : nobody;
  const form = z.object({ sums: sum.part });
  const told = answers.map(answer => form.safeParse(answer).data);
  if (told.includes(undefined)) throw malformed();
  const parts = [sum.of(here, input, reader), ...told.map(each => each!.sums)];
  return sum.told(parts, input, context, whatIsMissing(silent, unheld));
}

const malformed = () => new SkeinError('refused', 'A peer sent a malformed answer.', 'It may run another Skein.');

async function listWhole(route: Route, list: ListShape<Input, unknown>, { input, context, others }: WholeAsking) {
  const { reader } = context;
  const prepared = (await list.prepare?.(input, page => urlOf(reader, page))) ?? input;
  const server = list.server?.(prepared) ?? 0;
  const all = Array.from({ length: others.partitions }, (_, id) => id);
  const partitions = server === 0 ? all : [localNumber(server, others.partitions).partition];
  const places = placesOf(list.after(prepared), partitions.length);
  const open = partitions
    .map((partition, i) => ({ partition, place: places[i] }))
    .filter(({ place }) => place !== 'end');
  const told = new Map<number, ListingPart<Keyed<unknown>>>();
  const away: { partition: number; place: ListPlace }[] = [];
  for (const { partition, place } of open) {
    const part = others.isHere(partition) ? reader.parts.find(({ id }) => id === partition) : undefined;
    if (part) told.set(partition, list.rows(part, prepared, place as number | undefined, reader));
    else if (!others.isHere(partition)) away.push({ partition, place });
  }
  if (away.length > 0) {
    const asked = {
      route: nameOf(route),
      input: prepared,
      places: away.map(({ partition, place }) => [partition, place ?? null]),
    };
    for (const [partition, rows] of await askLists(others, askedForm.parse(asked), list)) told.set(partition, rows);
  }
  const merging = { limit: list.limit(prepared), compare: list.compare(prepared) };
  const { rows, next } = mergedFrom(
    places,
    partitions.map(partition => told.get(partition) ?? AT_ITS_END),
    merging,
  );
  return list.told(rows, next);
}

/** Rows of one answer to a list: as many as a route gives at most. */
const MOST_ROWS = 1000;

async function askLists(others: Others, asked: z.infer<typeof askedForm>, { row }: ListShape<Input, unknown>) {
  const form = z.object({
    parts: z
      .array(
        z.object({
          partition: z.int().min(0),
          rows: z.array(z.object({ key: z.number(), row })).max(MOST_ROWS),
          next: z.number().nullable(),
        }),
      )
      .max(4096),
  });
  const { answers, silent } = await others.ask(
    asked,
    (asked.places ?? []).map(([partition]) => partition),
  );
  if (silent.length > 0)
    throw new SkeinError(
      'incomplete',
      `The peer ${silent.join(', ')} does not answer, so its part would be missing here.`,
    );
  const found = new Map<number, ListingPart<Keyed<unknown>>>();
  for (const answer of answers) {
    const checked = form.safeParse(answer).data;
    if (!checked) throw malformed();
    for (const { partition, rows, next } of checked.parts) found.set(partition, { rows, next });
  }
  return found;
}
