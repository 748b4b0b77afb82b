/**
 * Every endpoint of version 1, in the order in which the documentation lists them. Apart from routes.ts, whose types the
 * user interface takes: rules load what a browser's types know nothing of.
 */
import { collectionRoutes } from '../collections/routes.ts';
import type { Route } from './route.ts';
import { mainRoutes } from './routes.ts';
import { ruleRoutes } from './rules.ts';

export const routes: readonly Route[] = [...mainRoutes, ...ruleRoutes, ...collectionRoutes];
