/** The endpoints about several collections and their runs. */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { type Route, type RouteContext, route } from '../api/route.ts';
import { type CollectionList, collectionList, collectionName, runCommand, runOptions } from './forms.ts';
import type { CollectionRuns } from './runs.ts';

function managed(runs: CollectionRuns | undefined): CollectionRuns {
  if (runs) return runs;
  throw new SkeinError(
    'refused',
    'This workbench shows one collection and starts no runs.',
    'Start it with skein workbench --collections DIR.',
  );
}

const name = collectionName;

async function told({ runs, shown, role }: Pick<RouteContext, 'runs' | 'shown' | 'role'>): Promise<CollectionList> {
  const collections = (await runs?.lines(shown)) ?? [];
  return { managed: runs !== undefined, admin: role === 'admin', collections };
}

export const collectionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/collections',
    summary: 'The collections of this workbench, and their runs.',
    input: z.object({}),
    output: collectionList,
    answer: (_, context) => told(context),
  }),
  route({
    method: 'post',
    path: '/collections/{name}/start',
    summary:
      'Starts a run. Without options those of the last time are used; a crawl with seeds makes a new collection.',
    changes: true,
    role: 'admin',
    input: z.object({ name, command: runCommand, options: runOptions.default({}) }),
    output: collectionList,
    async answer(input, context) {
      await managed(context.runs).start(input.name, input.command, input.options);
      return told(context);
    },
  }),
  route({
    method: 'post',
    path: '/collections/{name}/stop',
    summary: 'Stops a run that was started here, as Ctrl-C does.',
    changes: true,
    role: 'admin',
    input: z.object({ name }),
    output: collectionList,
    async answer(input, context) {
      managed(context.runs).stop(input.name);
      return told(context);
    },
  }),
  route({
    method: 'post',
    path: '/collections/{name}/schedule',
    summary: 'Refreshes a collection every so many hours; 0 = by hand only.',
    changes: true,
    role: 'admin',
    input: z.object({ name, everyHours: z.union([z.literal(0), z.number().min(0.1).max(8760)]) }),
    output: collectionList,
    async answer(input, context) {
      managed(context.runs).schedule(input.name, input.everyHours);
      return told(context);
    },
  }),
];
