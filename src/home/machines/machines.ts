/**
 * The machines that work for this home, as a person sees them: who is there, what each does, and who was there a moment
 * ago. A machine that vanishes stays visible for a while with what became of its errands. Decides nothing.
 */
import type { Carrier } from '../../transfer/carrier.ts';

export interface Machine {
  readonly name: string;
  /** Not a thread of this process. */
  readonly remote: boolean;
  readonly state: 'working' | 'idle' | 'full' | 'away' | 'gone' | 'quarantined';
  readonly errands: number;
  /** Pages under way, and how many may be. */
  readonly pages: number;
  readonly room: number;
  /** Visits a second, visits and bytes so far; null where only the ledger can say. */
  readonly rate: number | null;
  readonly visits: number | null;
  readonly bytes: number | null;
  /** How its parcels come home: `straight`, or `through` the machine above it. */
  readonly way: string;
  /** One sentence when something is wrong. */
  readonly trouble: string;
  /** When it last spoke. */
  readonly heard: number;
  readonly outposts: readonly Machine[];
}

export interface OutpostWork {
  readonly carrier: Carrier;
  readonly errands: number;
  readonly pages: number;
}

/** How long a machine that is gone stays in view, milliseconds. */
const REMEMBERED = 10 * 60_000;

export class MachineWatch {
  #last = new Map<string, Machine>();
  /** Errands of machines that are away which others have got already. */
  readonly #moved = new Map<string, number>();

  look(posts: readonly OutpostWork[], now: number): Machine[] {
    const present = posts.map(post => machineOf(post, now));
    for (const machine of present) this.#follow(machine);
    const names = new Set(present.map(machine => machine.name));
    const gone = [...this.#last.values()]
      .filter(({ name, heard }) => !names.has(name) && now - heard < REMEMBERED)
      .map(machine => (machine.state === 'gone' ? machine : vanished(machine, this.#moved.get(machine.name) ?? 0)));
    const all = [...present, ...gone];
    this.#last = new Map(all.map(machine => [machine.name, machine]));
    return all;
  }

  #follow({ name, state, errands }: Machine): void {
    const before = this.#last.get(name)?.errands ?? 0;
    if (state !== 'away') this.#moved.delete(name);
    else this.#moved.set(name, (this.#moved.get(name) ?? 0) + Math.max(0, before - errands));
  }
}

/** `earlier`: errands that others got while it was away. */
function vanished(machine: Machine, earlier: number): Machine {
  const errands = machine.errands + earlier;
  const moved = errands === 1 ? '1 errand' : `${errands} errands`;
  const trouble = errands === 0 ? 'It has gone.' : `It vanished; its ${moved} went back into the queue.`;
  return { ...machine, state: 'gone', trouble, errands: 0, pages: 0, rate: 0, outposts: [] };
}

function machineOf({ carrier, errands, pages }: OutpostWork, now: number): Machine {
  const { status } = carrier;
  const direct = carrier.direct?.paths ?? new Set();
  const below = (status?.outposts ?? []).map(each => fromStatus(each, { name: carrier.name, way: '' }, direct));
  return {
    name: carrier.name,
    remote: carrier.remote,
    state: stateOf(status?.state ?? 'working', errands),
    errands,
    pages,
    room: carrier.room,
    rate: status?.rate ?? null,
    visits: status?.pages ?? null,
    bytes: status?.bytes ?? null,
    way: 'straight',
    trouble: status?.trouble ?? '',
    heard: status?.heard ?? now,
    outposts: below,
  };
}

/** A machine that is well and has nothing to do says `working`, too. */
function stateOf(state: NonNullable<Carrier['status']>['state'], errands: number): Machine['state'] {
  return state === 'working' && errands === 0 ? 'idle' : state;
}

interface Above {
  readonly name: string;
  /** From the carrier's own outpost: `b/`. */
  readonly way: string;
}

function fromStatus(status: NonNullable<Carrier['status']>, above: Above, direct: ReadonlySet<string>): Machine {
  const path = `${above.way}${status.name}`;
  const self: Above = { name: status.name, way: `${path}/` };
  return {
    name: status.name,
    remote: true,
    state: stateOf(status.state, status.errands),
    errands: status.errands,
    pages: status.queue,
    room: status.room,
    rate: status.rate,
    visits: status.pages,
    bytes: status.bytes,
    way: direct.has(path) ? 'straight' : `through ${above.name}`,
    trouble: status.trouble,
    heard: status.heard,
    outposts: status.outposts.map(each => fromStatus(each, self, direct)),
  };
}
