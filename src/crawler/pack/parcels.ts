/** Gathers visits into parcels and lets them go when they are large or old enough to be worth the way. */
import type { Clock } from '../../base/clock.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Parcel, ServerNews } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Concluded } from '../conclude.ts';
import type { ParcelSize, ParcelSizes } from '../tools.ts';
import type { Packer } from './pack.ts';
import type { PackerPool } from './packer-pool.ts';

/** A parcel goes when it holds this many visits, or bytes, or its first visit is this old (milliseconds). */
const VISITS = 64;
const BYTES = 4 << 20;
const AGE = 200;

interface ParcelTools {
  readonly parcels?: ParcelSizes;
  readonly clock: Clock;
  readonly packers: PackerPool;
  readonly busy: () => boolean;
}

export class ParcelBuilder {
  readonly #errand: string;
  readonly #size: ParcelSize;
  readonly #tools: ParcelTools;
  readonly #deliver: (parcel: Parcel) => void;
  #visits: Visit[] = [];
  #bytes = 0;
  #packer: Packer | undefined;
  #news: ServerNews | undefined;
  #sequence = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(errand: Pick<Errand, 'id' | 'kind'>, tools: ParcelTools, deliver: (parcel: Parcel) => void) {
    this.#errand = errand.id;
    this.#size = tools.parcels?.[errand.kind] ?? { visits: VISITS, bytes: BYTES, age: AGE };
    this.#tools = tools;
    this.#deliver = deliver;
  }

  news(news: ServerNews | undefined): void {
    if (!news) return;
    const robotsBytes = (this.#news?.robotsBytes ?? 0) + news.robotsBytes;
    this.#news = { ...this.#news, ...news, robotsBytes };
    this.#expire();
  }

  /**
   * A full parcel goes when the next visit comes, or by its age: with the last visit of an errand it then says done at
   * once, and no empty one has to follow that says only that.
   */
  add(concluded: Concluded): void {
    if (this.#visits.length >= this.#size.visits || this.#bytes >= this.#size.bytes) this.#send(false);
    const { visit, kept } = concluded;
    if (kept) {
      this.#packer ??= this.#tools.packers.take();
      this.#visits.push({ ...visit, record: this.#packer.add(kept, this.#tools.busy()) });
      this.#bytes += Math.max(visit.page?.bytes ?? 0, kept.response.body.length);
      for (const { response } of kept.parts ?? []) this.#bytes += response.body.length;
    } else {
      this.#visits.push(visit);
    }
    this.#expire();
  }

  finish(): void {
    this.#send(true);
  }

  #expire(): void {
    this.#timer ??= setTimeout(() => this.#send(false), this.#size.age);
  }

  #send(done: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const members = this.#packer?.take();
    const news = this.#news;
    this.#deliver({
      errand: this.#errand,
      sequence: this.#sequence++,
      visits: this.#visits,
      members: members ?? new Uint8Array(),
      done,
      ...(news && { server: news }),
    });
    if (this.#packer && members) {
      this.#packer.reuse(members); // the codec has copied them by now, or they went as they were
      this.#tools.packers.giveBack(this.#packer);
    }
    this.#packer = undefined;
    this.#news = undefined;
    this.#visits = [];
    this.#bytes = 0;
  }
}
