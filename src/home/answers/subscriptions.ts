/** Who tells us what, how true it has been, and what each said last: for `skein subscriptions` and the workbench. */
import type { Ledger } from '../../ledger/ledger.ts';
import type { FaceKind } from '../../ledger/schedule/faces.ts';
import { pingPrecision, pingRecall } from '../../revisit/pings.ts';
import { distrusted } from '../notices/bulk/site-carriers.ts';

export interface Subscription {
  /** Of the server that tells. */
  readonly server: string;
  readonly kind: FaceKind | 'sitemap' | 'ping';
  /** Empty where nothing is asked or waited for: sitemaps are pages, pings come by hand. */
  readonly url: string;
  /** Where it was found. */
  readonly where: string;
  readonly state: 'telling' | 'waiting' | 'silent' | 'troubled' | 'distrusted';
  /** What is wrong; empty = nothing. */
  readonly trouble: string;
  /** When it last said something, and when it is asked next; milliseconds since 1970, null = never. */
  readonly heard: number | null;
  readonly next: number | null;
  /** Until when a hub has promised to tell. */
  readonly lease: number | null;
  /** Notices that came through it. */
  readonly notices: number;
  /** Notices of this kind and server that visits have judged, those that were true, and what is believed of the next. */
  readonly judged: number;
  readonly confirmed: number;
  readonly precision: number;
  readonly recall: number;
}

export function subscriptionsOf(ledger: Ledger): Subscription[] {
  const distrust = distrusted(ledger);
  const rows: Subscription[] = [];
  const seen = new Set<string>();
  for (const face of ledger.schedule.faces.all()) {
    const server = ledger.servers.byId(face.server).origin;
    const why = face.kind === 'cursor' ? distrust[server] : undefined;
    seen.add(`${face.server} ${face.kind}`);
    rows.push({
      ...{ server, kind: face.kind, url: face.url, where: face.found, notices: face.notices },
      state: why ? 'distrusted' : stateOf(face),
      trouble: why ?? face.trouble,
      heard: face.heard || null,
      next: face.due,
      lease: face.state.lease ?? null,
      ...trustOf(ledger, face.server, face.kind),
    });
  }
  for (const { id, origin } of ledger.servers.all()) {
    for (const kind of ledger.schedule.noticeTrust.kinds(id).keys()) {
      if (seen.has(`${id} ${kind}`)) continue;
      rows.push({
        ...{ server: origin, kind: kind as Subscription['kind'], url: '', where: '', state: 'telling', trouble: '' },
        ...{ heard: null, next: null, lease: null, notices: 0, ...trustOf(ledger, id, kind) },
      });
    }
  }
  return rows;
}

function stateOf({
  trouble,
  heard,
  kind,
  state,
}: ReturnType<Ledger['schedule']['faces']['all']>[number]): Subscription['state'] {
  if (trouble !== '') return 'troubled';
  if (kind === 'websub' && state.lease === undefined) return 'waiting';
  return heard > 0 ? 'telling' : 'silent';
}

function trustOf(
  ledger: Ledger,
  server: number,
  kind: string,
): Pick<Subscription, 'judged' | 'confirmed' | 'precision' | 'recall'> {
  const record = ledger.schedule.noticeTrust.of(server, kind);
  return {
    judged: Math.round(record.pings),
    confirmed: Math.round(record.confirmed),
    precision: pingPrecision(record),
    recall: pingRecall(record),
  };
}
