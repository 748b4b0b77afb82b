/**
 * Whose each partition is in fact. The ring says whose it should be; a claim in the bucket `owner` says whose it is, and
 * only a compare-and-set moves it, so that two peers whose views differ for a moment cannot both have it. Each move
 * raises the epoch, which fences the one before: its changelog is refused from then on.
 *
 *   free → held: anybody whose the ring says it is
 *   held → free: its holder, when the ring says another's (after everything of it has reached the engine)
 *   held by a dead peer → held: anybody whose the ring says it is
 */
import type { KV } from '@nats-io/kv';
import { z } from 'zod';
import type { Liveness } from './members/detector.ts';
import { ownerKey, PEER_NAME } from './topology/layout.ts';
import { WatchedBucket } from './watched-bucket.ts';

/** Far from where whole numbers end: each move adds one. */
const MOST_EPOCH = 2 ** 48;

const claimForm = z.object({
  /** Null = nobody's; it waits for whom the ring says. */
  peer: z.string().regex(PEER_NAME).nullable(),
  /** The start of that peer which made the claim. */
  session: z.string().max(32),
  epoch: z.int().min(1).max(MOST_EPOCH),
});

export type Claim = Readonly<z.infer<typeof claimForm>>;

interface Claimant {
  readonly name: string;
  readonly session: string;
}

export class Claims implements AsyncDisposable {
  readonly #me: Claimant;
  readonly #partitions: number;
  readonly #keys: readonly string[];
  readonly #bucket: WatchedBucket;
  /** All of them are looked at several times a second, and seldom change. */
  readonly #decoded = new WeakMap<object, Claim>();

  private constructor(me: Claimant, partitions: number, bucket: WatchedBucket) {
    this.#me = me;
    this.#partitions = partitions;
    this.#keys = Array.from({ length: partitions }, (_, partition) => ownerKey(partition));
    this.#bucket = bucket;
  }

  /** `changed` hears the number of each partition whose claim changed. */
  static async open(
    owner: KV,
    me: Claimant,
    partitions: number,
    changed: (partition: number) => void = () => {},
  ): Promise<Claims> {
    const bucket = await WatchedBucket.open(owner, key => {
      const partition = Number(key.slice(2));
      if (Number.isInteger(partition) && partition < partitions) changed(partition);
    });
    return new Claims(me, partitions, bucket);
  }

  of(partition: number): Claim | undefined {
    const known = this.#bucket.get(this.#keys[partition] ?? ownerKey(partition));
    if (!known) return undefined;
    const decoded = this.#decoded.get(known) ?? decodeClaim(known.text);
    if (decoded) this.#decoded.set(known, decoded);
    return decoded;
  }

  /** Every claim, by partition. */
  all(): (Claim | undefined)[] {
    return Array.from({ length: this.#partitions }, (_, partition) => this.of(partition));
  }

  /** Made by this start of this peer, and not lost since, as far as it knows. */
  isMine(partition: number): boolean {
    const claim = this.of(partition);
    return claim?.peer === this.#me.name && claim.session === this.#me.session;
  }

  /** As `isMine`, by what the engine says now: for a peer that was cut off or frozen. */
  async isStillMine(partition: number): Promise<boolean> {
    await this.#bucket.read(ownerKey(partition));
    return this.isMine(partition);
  }

  /** Looks whether everything was heard: for a peer that was cut off or frozen. */
  check(): Promise<void> {
    return this.#bucket.check();
  }

  mine(): number[] {
    return Array.from({ length: this.#partitions }, (_, partition) => partition).filter(p => this.isMine(p));
  }

  /**
   * The epoch of the new claim; undefined when somebody else was first. The caller made sure by `planClaims` that it may.
   * `used`: the newest that is known from elsewhere. A claim that was overwritten with garbage says nothing any more, and no epoch
   * may come twice: whoever had it would be taken for its heir.
   */
  async take(partition: number, used = 0): Promise<number | undefined> {
    const epoch = 1 + Math.max(0, ...[this.of(partition)?.epoch ?? 0, used].filter(each => each < MOST_EPOCH));
    const taken = await this.#write(partition, { peer: this.#me.name, session: this.#me.session, epoch });
    return taken ? epoch : undefined;
  }

  /** Gives up what is this peer's own; false when it was not any more. */
  async release(partition: number): Promise<boolean> {
    const before = this.of(partition);
    if (!before || !this.isMine(partition)) return false;
    return this.#write(partition, { ...before, peer: null, epoch: before.epoch + 1 });
  }

  /** Writes this peer's own claim again where the engine has forgotten it; false when the partition is somebody else's by now. */
  async restore(partition: number): Promise<boolean> {
    const known = this.#bucket.get(ownerKey(partition));
    if (!known || !this.isMine(partition)) return false;
    if (known.revision > 0) return true;
    return (await this.#bucket.write(ownerKey(partition), known.text, 0)) || this.isMine(partition);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#bucket.close();
  }

  #write(partition: number, claim: Claim): Promise<boolean> {
    const key = ownerKey(partition);
    return this.#bucket.write(key, JSON.stringify(claim), this.#bucket.get(key)?.revision ?? 0);
  }
}

export function decodeClaim(text: string | undefined): Claim | undefined {
  if (text === undefined) return undefined;
  try {
    return claimForm.safeParse(JSON.parse(text)).data;
  } catch {
    // Nobody's writing: as if there were no claim, and the next one goes over it.
    return undefined;
  }
}

interface ClaimPlan {
  /** To be taken now. */
  readonly take: readonly number[];
  /** This peer's, and to be handed over. */
  readonly release: readonly number[];
  /** The ring says this peer's, and another that lives has it still. */
  readonly await: readonly number[];
}

interface Situation {
  readonly me: Claimant;
  readonly claims: readonly (Claim | undefined)[];
  /** Whose each partition should be, by the ring. */
  readonly wanted: readonly (string | undefined)[];
  readonly livenessOf: (name: string) => Liveness;
}

/** What this peer has to do about claims; empty when all is as it should be. */
export function planClaims({ me, claims, wanted, livenessOf }: Situation): ClaimPlan {
  const take: number[] = [];
  const release: number[] = [];
  const awaited: number[] = [];
  wanted.forEach((owner, partition) => {
    const claim = claims[partition];
    const isMine = claim?.peer === me.name && claim.session === me.session;
    if (owner === me.name) {
      // A claim of an earlier start of this peer is taken anew, with an epoch that fences whatever is left of it.
      const free = !claim?.peer || claim.peer === me.name || livenessOf(claim.peer) === 'dead';
      if (!isMine) (free ? take : awaited).push(partition);
    }
    // Handed over only to one that can take it: a suspect peer may be dead. What an earlier start of this peer had is taken
    // first: nobody else hands it over, since this peer lives.
    else if (claim?.peer === me.name && owner !== undefined && livenessOf(owner) === 'living')
      (isMine ? release : take).push(partition);
  });
  return { take, release, await: awaited };
}
