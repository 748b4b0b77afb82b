/** The other end: what a peer answers to the workbench of another one, from the partitions on its disk. */
import { SkeinError } from '../../base/errors.ts';
import type { Route, RouteContext } from '../api/route.ts';
import { mainRoutes } from '../api/routes.ts';
import { copyDocument } from '../copy.ts';
import { Reader } from '../reader.ts';
import { nameOf } from './answering.ts';
import { askedForm, COPY } from './whole.ts';

const byName: ReadonlyMap<string, Route> = new Map(mainRoutes.map(route => [nameOf(route), route]));

export class PeerAnswers {
  readonly #reader: Reader;

  constructor(directory: string) {
    this.#reader = new Reader(directory, '');
  }

  /** `held`: the partitions that are this peer's now; others may still lie on its disk. */
  async answer(given: unknown, held: ReadonlySet<number>): Promise<unknown> {
    this.#reader.follow();
    const { route: name, input, places } = askedForm.parse(given);
    try {
      if (name === COPY) return { answer: await this.#copy(input) };
      const route = byName.get(name);
      if (!route || (!route.about && !route.list && !route.sum))
        throw new SkeinError('refused', 'It does not know this question.');
      if (!places) return { answer: await route.answer(route.input.parse(input), this.#context()) };
      if (route.list) return { parts: this.#list(route, input, places) };
      const wanted = new Set(places.map(([partition]) => partition));
      const parts = this.#reader.parts.filter(({ id }) => wanted.has(id) && held.has(id));
      return { sums: route.sum?.of(parts, route.input.parse(input), this.#reader) };
    } catch (error) {
      if (error instanceof SkeinError) return { code: error.code, error: error.message };
      throw error;
    }
  }

  #list({ list, input: form }: Route, input: object, places: readonly (readonly [number, number | null])[]) {
    const wanted = (list!.form ?? form).parse(input) as Record<string, unknown>;
    return places.flatMap(([partition, place]) => {
      const part = this.#reader.parts.find(({ id }) => id === partition);
      return part ? [{ partition, ...list!.rows(part, wanted, place ?? undefined, this.#reader) }] : [];
    });
  }

  async #copy({ visit, since, until }: Record<string, unknown>): Promise<string> {
    const numbered = (value: unknown) => (typeof value === 'number' ? value : undefined);
    return copyDocument(this.#reader, Number(visit), { since: numbered(since), until: numbered(until) });
  }

  /** What is about one thing looks at the reader alone. */
  #context(): RouteContext {
    return { reader: this.#reader, role: 'read', shown: '', live: undefined as never };
  }
}
