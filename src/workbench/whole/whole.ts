/**
 * The rest of the collection: what other peers of a cluster have. The workbench reads what is on this disk by itself and asks
 * the peers for everything else, by the routes of its own API: what one of them answers passes the schema of the route
 * before anybody sees it. Without a cluster nothing of this is loaded.
 */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { partitionOfUrl } from '../../base/partition.ts';
import { rememberedCluster } from '../../ledger/collection/cluster-file.ts';
import { readCollection } from '../../ledger/collection/collection.ts';
import { localNumber } from '../../questions/numbers.ts';
import type { PeersElsewhere } from '../../questions/peers/elsewhere.ts';

/** What a peer is asked: a route of the API with its checked parameters. */
export const askedForm = z.object({
  route: z.string().max(100),
  input: z.record(z.string().max(40), z.unknown()),
  /** Of a list: from where to go on in each partition; null = its beginning. Of sums: which partitions. */
  places: z
    .array(z.tuple([z.int().min(0), z.number().nullable()]))
    .max(4096)
    .optional(),
});
type AskedRoute = z.infer<typeof askedForm>;

/** A stored copy as a document; no route, since it is no JSON. */
export const COPY = 'copy';

/** Milliseconds after which an engine that did not answer is tried again. */
const PAUSE = 5000;

/** The peers of a cluster, as far as they can be asked. */
export interface Others {
  readonly partitions: number;
  /** The peer is this machine's, and so is the partition. */
  isHere(partition: number): boolean;
  /** The answers of those who have these partitions; `silent`: peers that said nothing, `unheld`: what nobody has now. */
  ask(
    asked: AskedRoute,
    partitions: readonly number[],
  ): Promise<{ answers: readonly unknown[]; silent: readonly string[]; unheld: readonly number[] }>;
  readonly elsewhere: PeersElsewhere;
}

export class WholeCollection {
  readonly #directory: string;
  #opening: Promise<Others | undefined> | undefined;
  #failed = Number.NEGATIVE_INFINITY;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Undefined: the collection is this machine's alone, or the engine does not answer. */
  async others(): Promise<Others | undefined> {
    if (!this.#opening && performance.now() - this.#failed < PAUSE) return undefined;
    this.#opening ??= this.#open();
    const others = await this.#opening;
    if (!others) {
      this.#opening = undefined;
      this.#failed = performance.now();
    }
    return others;
  }

  async #open(): Promise<Others | undefined> {
    const remembered = rememberedCluster(this.#directory);
    if (!remembered) return undefined;
    const { openWhole } = await import('../../questions/peers/elsewhere.ts');
    try {
      const { elsewhere, collection } = await openWhole(this.#directory, remembered);
      const { partitions } = collection;
      return {
        partitions,
        elsewhere,
        isHere: partition =>
          elsewhere.isHeldBy(partition, remembered.peer) &&
          readCollection(this.#directory).here.some(({ id }) => id === partition),
        async ask(asked, wanted) {
          const { answers, silent, unheld } = await elsewhere.askHolders('workbench', asked, wanted);
          return { answers: [...answers.values()], silent, unheld };
        },
      };
    } catch (error) {
      if (error instanceof SkeinError) return undefined; // this machine tells what it has
      throw error;
    }
  }

  async close(): Promise<void> {
    const others = await this.#opening?.catch(() => undefined);
    await others?.elsewhere.close().catch(() => undefined); // it is over in any case
  }
}

/** What the peer that has a partition answers to a route; undefined = the partition is on this disk. */
export async function answerElsewhere<Answer>(
  others: Others,
  partition: number,
  asked: AskedRoute,
  form: z.ZodType<Answer>,
): Promise<Answer | undefined> {
  if (others.isHere(partition)) return undefined;
  const { answers, silent } = await others.ask(asked, [partition]);
  if (silent.length > 0)
    throw new SkeinError('incomplete', `The peer ${silent.join(', ')}, which has it, does not answer.`);
  const told = toldForm.safeParse(answers[0]).data;
  if (!told) throw new SkeinError('incomplete', 'It is moving to another peer.', 'Try again in some seconds.');
  if ('error' in told) throw new SkeinError(told.code === 'not-found' ? 'not-found' : 'refused', told.error);
  const checked = form.safeParse(told.answer);
  if (checked.success) return checked.data;
  throw new SkeinError('refused', 'A peer sent a malformed answer.', 'It may run another Skein.');
}

const toldForm = z.union([
  z.object({ answer: z.unknown() }).required(),
  z.object({ code: z.string().max(40), error: z.string().max(2000) }),
]);

/** The partition of a page that is named by its URL. */
export const partitionOf = (others: Others, url: string): number => partitionOfUrl(url, others.partitions);

/** A stored copy as a document, from the peer that has it; undefined = it is on this disk. */
export async function copyElsewhere(
  whole: WholeCollection,
  visit: number,
  against: { readonly since?: number | undefined; readonly until?: number | undefined },
): Promise<string | undefined> {
  const others = await whole.others();
  if (!others) return undefined;
  const { partition } = localNumber(visit, others.partitions);
  return answerElsewhere(others, partition, { route: COPY, input: { visit, ...against } }, z.string());
}
