/**
 * The carrier to an outpost on another machine: a link, with the errands signed and packed on the way out and the
 * parcels unpacked and checked on the way in. ssh and WebSocket differ only in where its lines come from.
 */
import type { Errand } from '../errand/errand.ts';
import type { Identity } from '../errand/keys.ts';
import { encodeWarrant, issueWarrant } from '../errand/warrant.ts';
import type { Carrier, Receiver } from './carrier.ts';
import type { ErrandFrame, ParcelFrame } from './frames.ts';
import type { Line } from './line.ts';
import { Link } from './link.ts';
import type { Hello, Status } from './messages.ts';
import { packErrand, unpackParcel } from './parcel-format.ts';

export interface StreamCarrierOptions {
  readonly name: string;
  /** Home's own key: warrants are signed with it. */
  readonly identity: Identity;
  /** Hosts or domains that the outpost is there for; empty = any. */
  readonly servers?: readonly string[];
  /** Milliseconds. */
  readonly lease?: number;
  /** Ends what brings the lines. */
  readonly onClose?: () => Promise<void> | void;
}

export class StreamCarrier implements Carrier {
  readonly name: string;
  readonly remote = true;
  readonly #options: StreamCarrierOptions;
  readonly #receiver: Receiver;
  readonly #link: Link;
  #servers: readonly string[];

  constructor(options: StreamCarrierOptions, receiver: Receiver) {
    this.name = options.name;
    this.#options = options;
    this.#receiver = receiver;
    this.#servers = options.servers ?? [];
    this.#link = new Link(
      options.name,
      {
        parcel: (_, frame) => this.#parcel(frame),
        gaveUp: (_, errand, why) => this.#receiver.gaveUp(this, errand, why),
        changed: () => this.#receiver.changed(this),
        lost: (_, why) => this.#receiver.lost(this, why),
      },
      options.lease,
    );
  }

  get room(): number {
    return this.#link.room;
  }

  get servers(): readonly string[] {
    return this.#servers;
  }

  get connected(): boolean {
    return this.#link.connected;
  }

  get status(): Status {
    return this.#link.status;
  }

  /** A line has been greeted. `expected`: errands that an earlier run of home sent here. */
  attach(line: Line, hello: Hello, expected: readonly Errand[] = []): void {
    if (hello.servers.length > 0) this.#servers = hello.servers;
    this.#link.expect(expected.map(errand => this.#frame(errand, hello.key)));
    this.#link.attach(line, hello);
  }

  send(errand: Errand): void {
    this.#link.send(this.#frame(errand, this.#link.hello!.key));
  }

  acknowledge(errand: string, sequence: number): void {
    this.#link.acknowledge(errand, sequence);
  }

  forget(errand: string): void {
    this.#link.forget(errand);
  }

  recall(): void {
    this.#link.recall();
  }

  async close(): Promise<void> {
    await this.#link.close('home has no more work');
    await this.#options.onClose?.();
  }

  #frame(errand: Errand, receiver: string): ErrandFrame {
    const bytes = packErrand(errand);
    const terms = { errand: errand.id, levels: errand.levels, deadline: errand.deadline, bytes };
    const warrant = encodeWarrant(issueWarrant(this.#options.identity, terms, receiver));
    return { kind: 'errand', errand: errand.id, warrant, bytes };
  }

  #parcel(frame: ParcelFrame): void {
    const { errand, sequence } = frame;
    try {
      const parcel = unpackParcel(frame.bytes);
      if (parcel.errand === errand && parcel.sequence === sequence) {
        const by = frame.by === '' ? this.name : `${this.name}/${frame.by}`;
        this.#receiver.parcel(this, parcel, by);
        return;
      }
      this.#receiver.gaveUp(this, errand, 'a parcel says that it belongs elsewhere');
    } catch (error) {
      // It would come again after every reconnection: the errand ends instead, and its pages go elsewhere.
      this.#receiver.gaveUp(this, errand, (error as Error).message);
    }
  }
}
