/** What the API answers: the types of its own schemas, of which nothing but the types comes here. */
import type { z } from 'zod';
import type { homeState, machine } from '../../api/shared.ts';
import type { Tick } from '../../api/tick.ts';

export type { ChangedDay, ChangedDayList, ShownChange as Change } from '../../api/changes.ts';
export type { Overview } from '../../api/overview.ts';
export type { LinkList, PageDetail, PageVisit, ShownDifference as Difference, WhyAnswer } from '../../api/page.ts';
export type { PageLine } from '../../api/page-list.ts';
export type { PeerList } from '../../api/peers.ts';
export type { ObeyedOrder as Obeyed, ShownHit as Hit, ShownResults as Results } from '../../api/routes.ts';
export type { RuleLine, SiteLine, SubscriptionLine, TriedChange } from '../../api/rule-forms.ts';
export type { ServerDetail, ServerLine } from '../../api/servers.ts';
export type { Sample, ShownVisit, Tick } from '../../api/tick.ts';
export type { CollectionLine, CollectionList, CollectionRunOptions } from '../../collections/forms.ts';
export type HomeState = z.infer<typeof homeState>;
export type Machine = z.infer<typeof machine>;
/** Visits and bytes a second, by outpost. */
export type Rates = Tick['outposts'];
