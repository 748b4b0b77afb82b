/**
 * The prior of a page's change rate: what the other pages (or images) of its server and of its folder have shown. A folder
 * matters, because a manual in work changes daily beside the manual of the last release, which never does. A page that never
 * changed is believed to be like its neighbours.
 */
import { roles } from '../../ledger/pages/pages.ts';
import { SAMPLE, type ScheduledPage } from '../../ledger/schedule/scheduled-pages.ts';
import { believed, type GammaShown, NOTHING_SHOWN, priorBelow, showing } from '../../revisit/estimators/gamma.ts';
import { type ChangeState, PRIOR, type Prior, unpackState } from '../../revisit/state.ts';
import type { ImportancePlace } from './importance.ts';

/** Server, role and URL say to which neighbours a page is compared. */
interface PageKind {
  readonly server: number;
  readonly role: ImportancePlace['role'];
  readonly url: string;
}

/** So few visits are not worth counting all pages again. */
const FEW_VISITS = 100;

export class ServerPrior {
  /** By server and role, and by folder. */
  readonly #shown = new Map<string, GammaShown>();
  /** Visits up to the last count, and since. */
  #counted = 0;
  #learned = 0;

  /** Since the last count as many visits have come as there were before it. */
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

  /** Counts a page as `after` instead of `before`. */
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

  /** The server weighs as much as one page of the folder, and the general guess as much as one page of the server. */
  #prior(kind: PageKind): Prior {
    return placesOf(kind).reduce((prior, key) => priorBelow(prior, this.#shown.get(key) ?? NOTHING_SHOWN), PRIOR);
  }
}

/** Servers and folders that are remembered; pages elsewhere count as like their server, or like any page. */
const MOST_PLACES = 100_000;

/** The server, and the first folder of the path. */
function placesOf({ server, role, url }: PageKind): [string, string] {
  const whole = `${server} ${role}`;
  return [whole, `${whole} ${/^[a-z]+:\/\/[^/]*\/([^/?]*)\//.exec(url)?.[1] ?? ''}/`];
}

interface Survey {
  readonly neighbours: ServerPrior;
  /** Every n-th page. */
  readonly sample: readonly ScheduledPage[];
  readonly step: number;
  /** Pages in all. */
  readonly pages: number;
}

/** Reads all pages once and keeps a sample of SAMPLE to twice SAMPLE pages. */
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
