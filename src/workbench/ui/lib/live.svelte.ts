/** The numbers that move: one connection for the whole page, reopened by the browser when it breaks. */
import { get, parsed } from './api.ts';
import type { Sample, ShownVisit, Tick } from './types.ts';

const MOST_VISITS = 60;
const MOST_SAMPLES = 1800;

export const live = $state<{
  tick: Tick | undefined;
  visits: readonly ShownVisit[];
  history: readonly Sample[];
  connected: boolean;
  steers: boolean;
}>({ tick: undefined, visits: [], history: [], connected: false, steers: false });

async function catchUp(): Promise<void> {
  const now = await get<Tick & { history: readonly Sample[]; steers: boolean }>('/now');
  live.steers = now.steers;
  live.history = now.history;
  live.visits = now.visits;
  live.tick = { ...now, visits: [] };
}

export function connect(): void {
  const source = new EventSource('/api/v1/live');
  source.addEventListener('open', () => {
    live.connected = true;
    // What happened while there was no connection is not repeated by the stream.
    catchUp().catch(() => {
      live.connected = false;
    });
  });
  source.addEventListener('error', () => {
    live.connected = false;
  });
  source.addEventListener('tick', event => {
    const tick = parsed<Tick>((event as MessageEvent<string>).data);
    live.tick = tick;
    const shown = new Set(tick.visits.map(visit => visit.id));
    live.visits = [...tick.visits, ...live.visits.filter(visit => !shown.has(visit.id))].slice(0, MOST_VISITS);
    live.history = [...live.history.slice(-MOST_SAMPLES + 1), tick.sample];
  });
}
