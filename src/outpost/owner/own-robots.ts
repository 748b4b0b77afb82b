/**
 * robots.txt as this outpost itself has read it. What an errand brings of it is home's word, and the owner of a machine
 * answers for what is asked for from it: at a standing outpost the errand's copy is left aside, and the file is fetched
 * from here, once a day for each server.
 */
import type { Errand, RobotsCopy } from '../../errand/errand.ts';
import type { Parcel } from '../../errand/parcel.ts';

/** Servers whose file is remembered; the ones met longest ago are fetched again. */
const REMEMBERED = 10_000;

export class OwnRobots {
  readonly #copies = new Map<string, RobotsCopy>();

  /** The errand with what is known here in the place of what it brought. */
  instead(errand: Errand): Errand {
    const { robots: _, ...server } = errand.server;
    const own = this.#copies.get(server.origin);
    return { ...errand, server: { ...server, ...(own && { robots: own }) } };
  }

  learn({ server }: Parcel): void {
    if (!server?.robots) return;
    this.#copies.delete(server.origin);
    this.#copies.set(server.origin, server.robots);
    const [oldest] = this.#copies.keys();
    if (this.#copies.size > REMEMBERED) this.#copies.delete(oldest!);
  }
}
