/** A frontier with nothing special about it: everything is in scope, nothing is paced. */
import { HOUR } from '../../src/base/clock.ts';
import { keepAll } from '../../src/errand/scope/keep.ts';
import { compileScope } from '../../src/errand/scope/scope.ts';
import type { FrontierOptions } from '../../src/frontier/frontier.ts';

const scope = { domains: [], include: [], exclude: [] };
export const plainOptions: FrontierOptions = {
  ...{ mode: 'refresh', order: 'breadth', images: 'off', bounds: '', domains: new Map(), detector: 'content' },
  ...{ maxPages: 1e9, pagesPerServer: 1e9, depth: 100, bodyBytes: 1e6, pace: 0, connections: 1, outposts: 1 },
  ...{ allowPrivate: true, lease: HOUR, outside: compileScope(scope) },
  scope: { ...scope, focus: [], keep: keepAll },
};
