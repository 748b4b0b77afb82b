/**
 * One endpoint of the API: its place, what it takes, and what answers. The table in table.ts is both the router and
 * the OpenAPI document, so neither can say what the other does not.
 */
import type { z } from 'zod';
import type { ListingPart } from '../../ledger/queries/listings.ts';
import type { WorkbenchRole } from '../access.ts';
import type { CollectionRuns } from '../collections/runs.ts';
import type { Live } from '../live.ts';
import { type Keyed, type ListCursor, paged } from '../paging.ts';
import type { Reader, ReadPartition } from '../reader.ts';

export interface RouteContext {
  /** Of the collection that is shown. Throws where there is none yet. */
  readonly reader: Reader;
  readonly live: Live;
  readonly role: WorkbenchRole;
  /** Where this workbench has several collections. */
  readonly runs?: CollectionRuns | undefined;
  /** Name of the collection that is shown; empty where there is one. */
  readonly shown: string;
}

/** A list over all partitions, of which other peers may have some. */
export interface ListShape<Input, Row> {
  /** Of a row, for what comes from another machine. */
  readonly row: z.ZodType<Row>;
  /** Rows of one partition behind a place. */
  readonly rows: (
    part: ReadPartition,
    input: Input,
    after: number | undefined,
    reader: Reader,
  ) => ListingPart<Keyed<Row>>;
  readonly compare: (input: Input) => (one: Row, two: Row) => number;
  /** Number of the server that it is about, as it is told; 0 = all. */
  readonly server?: (input: Input) => number;
  /** The parameter that says where to go on. */
  readonly after: (input: Input) => ListCursor | undefined;
  readonly limit: (input: Input) => number;
  readonly told: (rows: readonly Row[], next: ListCursor | null) => unknown;
  /** What peers are asked with, where that is more than the parameters; `urlOf`: of a page, by its number. */
  readonly form?: z.ZodType<Input>;
  readonly prepare?: (input: Input, urlOf: (page: number) => Promise<string>) => Promise<Input>;
}

/** Sums over all partitions, of which other peers may have some. */
export interface SumShape<Input, Part> {
  /** Of what one machine tells of its partitions, for what comes from another. */
  readonly part: z.ZodType<Part>;
  readonly of: (parts: readonly ReadPartition[], input: Input, reader: Reader) => Part;
  /** What all of them tell together; `missing`: a sentence about peers that do not answer, or nothing. */
  readonly told: (parts: readonly Part[], input: Input, context: RouteContext, missing: string) => unknown;
}

export interface Route<Input extends z.ZodObject = z.ZodObject, Answer extends z.ZodType = z.ZodType> {
  readonly method: 'get' | 'post';
  /** Below /api/v1; `{id}` is a path parameter, declared in `input` like the others. */
  readonly path: string;
  readonly summary: string;
  readonly input: Input;
  /** What comes back; its `id` names it in the description. Answers are not checked against it but by tests. */
  readonly output: Answer;
  /** A state-changing call: needs a token whose holder has this role, `steer` where none is named. */
  readonly changes?: boolean;
  readonly role?: WorkbenchRole;
  readonly answer: (input: z.infer<Input>, context: RouteContext) => z.infer<Answer> | Promise<z.infer<Answer>>;
  /** Of a route about one thing: its number as it is told, or the URL of a page; undefined = it is about no one thing. */
  readonly about?: (input: z.infer<Input>) => number | string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: rows of one list never meet those of another
  readonly list?: ListShape<z.infer<Input>, any>;
  // biome-ignore lint/suspicious/noExplicitAny: parts of one sum never meet those of another
  readonly sum?: SumShape<z.infer<Input>, any>;
}

/** Keeps the types of input and answer together while the table forgets them. */
export function route<Input extends z.ZodObject, Answer extends z.ZodType>(made: Route<Input, Answer>): Route {
  return made as unknown as Route;
}

/** A route that answers with a list. */
export function listRoute<Input extends z.ZodObject, Row>(
  made: Pick<Route<Input>, 'method' | 'path' | 'summary' | 'input' | 'output'> & {
    readonly list: ListShape<z.infer<Input>, Row>;
  },
): Route {
  const { list } = made;
  return route({ ...made, answer: (input, { reader }) => listHere(list, reader, input) as never });
}

/** A route that answers with sums. */
export function sumRoute<Input extends z.ZodObject, Part>(
  made: Pick<Route<Input>, 'method' | 'path' | 'summary' | 'input' | 'output'> & {
    readonly sum: SumShape<z.infer<Input>, Part>;
  },
): Route {
  const { sum } = made;
  const answer = (input: z.infer<Input>, context: RouteContext) => {
    const { reader } = context;
    return sum.told([sum.of(reader.parts, input, reader)], input, context, '') as never;
  };
  return route({ ...made, answer });
}

/** Over the partitions on this disk. */
export function listHere<Input, Row>(list: ListShape<Input, Row>, reader: Reader, input: Input): unknown {
  const { rows, next } = paged<Row>({
    parts: partsAbout(reader, list.server?.(input) ?? 0),
    ...{ after: list.after(input), limit: list.limit(input), compare: list.compare(input) },
    ask: (part, after) => list.rows(part, input, after, reader),
  });
  return list.told(rows, next);
}

/** The partitions on this disk that have a server, told by its number; all where none is named. */
export function partsAbout(reader: Reader, server: number): readonly ReadPartition[] {
  const place = server === 0 ? undefined : reader.placeOf(server);
  return server === 0 ? reader.parts : place ? [place.part] : [];
}
