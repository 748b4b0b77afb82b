/**
 * What the pages of one server, or its images, have shown together, and those of each of its folders: a manual in work
 * changes daily beside one of the last release that never does. A page that never changed is believed to be like its
 * neighbours, as they are known by now.
 */
import { roles } from '../../ledger/pages/pages.ts';
import { SAMPLE, type ScheduledPage } from '../../ledger/pages/scheduled-pages.ts';
import { believed, type GammaShown, NOTHING_SHOWN, priorBelow, showing } from '../../revisit/estimators/gamma.ts';
import { type ChangeState, PRIOR, type Prior, unpackState } from '../../revisit/state.ts';
import type { ImportancePlace } from './importance.ts';

/** Those that a page is like. */
interface PageKind {
  readonly server: number;
  readonly role: ImportancePlace['role'];
  readonly url: string;
}

/** Visits that are too few to ask again what all pages are believed to do. */
const FEW_VISITS = 100;

export class ServerPrior {
  /** By server and role, and by the folders below it. */
  readonly #shown = new Map<string, GammaShown>();
  /** Visits when these were counted, and since. */
  #counted = 0;
  #learned = 0;

  /** As many visits have been learned from as there were before. */
  get doubled(): boolean {
    return this.#learned > Math.max(FEW_VISITS, this.#counted);
  }

  add(kind: PageKind, state: ChangeState): void {
    this.#show(kind, state, 1);
    this.#counted += state.visits;
  }

  believed(kind: PageKind, state: ChangeState): ChangeState {
    return believed(state, this.#prior(kind));
  }

  /** A page that was counted with `before` has shown more since. */
  learned(kind: PageKind, before: ChangeState, after: ChangeState): void {
    this.#show(kind, before, -1);
    this.#show(kind, after, 1);
    this.#learned++;
  }

  #show(kind: PageKind, state: ChangeState, times: 1 | -1): void {
    for (const key of placesOf(kind)) {
      const shown = this.#shown.get(key);
      if (shown || this.#shown.size < MOST_PLACES) this.#shown.set(key, showing(shown ?? NOTHING_SHOWN, state, times));
    }
  }

  /** What the server does counts as much as one page of the folder, and a guess as much as one page of the server. */
  #prior(kind: PageKind): Prior {
    return placesOf(kind).reduce((prior, key) => priorBelow(prior, this.#shown.get(key) ?? NOTHING_SHOWN), PRIOR);
  }
}

/** Servers and folders that are remembered; pages of others are like those of their server, or like any page. */
const MOST_PLACES = 100_000;

/** The server, and the first folder of the path. */
function placesOf({ server, role, url }: PageKind): [string, string] {
  const whole = `${server} ${role}`;
  return [whole, `${whole} ${/^[a-z]+:\/\/[^/]*\/([^/?]*)\//.exec(url)?.[1] ?? ''}/`];
}

interface Survey {
  readonly neighbours: ServerPrior;
  /** Every `step`th of the pages. */
  readonly sample: readonly ScheduledPage[];
  readonly step: number;
  /** How many there are. */
  readonly pages: number;
}

/** Reads all pages once and keeps a sample of them: SAMPLE pages or more, twice as many at most. */
export function survey(rows: Iterable<ScheduledPage>): Survey {
  const neighbours = new ServerPrior();
  let sample: ScheduledPage[] = [];
  let step = 1;
  let pages = 0;
  for (const row of rows) {
    neighbours.add({ server: row.server, role: roles[row.role]!, url: row.url }, unpackState(row.change));
    if (pages++ % step === 0) sample.push(row);
    if (sample.length < 2 * SAMPLE) continue;
    sample = sample.filter((_, i) => i % 2 === 0);
    step *= 2;
  }
  return { neighbours, sample, step, pages };
}
