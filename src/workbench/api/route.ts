/**
 * One endpoint of the API: its place, what it takes, and what answers. The table in table.ts is both the router and
 * the OpenAPI document, so neither can say what the other does not.
 */
import type { z } from 'zod';
import type { WorkbenchRole } from '../access.ts';
import type { CollectionRuns } from '../collections/runs.ts';
import type { Live } from '../live.ts';
import type { Reader } from '../reader.ts';

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
}

/** Keeps the types of input and answer together while the table forgets them. */
export function route<Input extends z.ZodObject, Answer extends z.ZodType>(made: Route<Input, Answer>): Route {
  return made as unknown as Route;
}
