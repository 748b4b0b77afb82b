/**
 * Where the pages of a server are visited from, and why: what dispatch decided, kept so that a person can ask for it
 * (`skein why`, the workbench). Read from a file beside the collection, so that asking costs a running home nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Placement {
  /** The machine that gets the errands of this server; `home` is this one. */
  readonly machine: string;
  /**
   * `own`: it stands for the server; `fastest`: best measured time; `measuring`: its time is being measured; `shared`:
   * nothing paces the server, so all take part; `address`: it has others of the same address; `least-loaded`: it had the
   * least to do; `home`: no other takes part.
   */
  readonly reason: 'own' | 'fastest' | 'measuring' | 'shared' | 'address' | 'least-loaded' | 'home';
  /** One clause for people. */
  readonly because: string;
}

/** File in the collection that tells other processes about the machines. */
export const OUTPOSTS_FILE = 'outposts.json';
/** Servers whose placement is remembered. */
const REMEMBERED = 100_000;

const HOME: Placement = { machine: 'home', reason: 'home', because: 'no other machine takes part' };

export class Placements {
  readonly #places = new Map<string, Placement>();

  get(origin: string): Placement | undefined {
    return this.#places.get(origin);
  }

  /** `stays`: the server is where it was, for the reason that brought it there. */
  note(origin: string, place: Placement, stays: boolean): void {
    const before = this.#places.get(origin);
    if (before && stays && before.machine === place.machine) return;
    if (this.#places.size > REMEMBERED) this.#places.clear();
    this.#places.delete(origin); // so that the newest stand last
    this.#places.set(origin, place);
  }

  /** The newest so many, for the file. */
  newest(most: number): (Placement & { readonly origin: string })[] {
    const all = [...this.#places].slice(-most);
    return all.map(([origin, place]) => ({ origin, ...place }));
  }
}

/** What the last run with other machines in this directory decided; undefined = it had no errand for that server. */
export function placementOf(directory: string, origin: string): Placement | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, OUTPOSTS_FILE), 'utf8');
  } catch {
    return HOME; // no other machine has ever worked here
  }
  const { placements = [] } = JSON.parse(text) as { placements?: (Placement & { origin: string })[] };
  const found = placements.find(each => each.origin === origin);
  if (!found) return undefined;
  const { machine, reason, because } = found;
  return { machine, reason, because };
}
