/**
 * News or noise: what becomes of a page that came and differs from its stored copy. What is known of the noise of its
 * server decides (src/judge/); without evidence it is news and stored as a new version. What is no news becomes the copy
 * that people read, and nothing else.
 *
 * At the end of a round the edits of all its pages are looked at together, and visits that were taken for news may turn
 * out to be noise or edits that many pages share. Until then they count as news: a crash loses none.
 */
import type { Clock } from '../base/clock.ts';
import type { Stage, Visit } from '../errand/visit.ts';
import type { Brought } from '../frontier/brought.ts';
import type { Frontier } from '../frontier/frontier.ts';
import type { Learned } from '../frontier/learning.ts';
import type { Edit } from '../judge/edits.ts';
import { type Places, remember, type Saved, ServerKnowledge, type Verdict } from '../judge/knowledge.ts';
import { review, verdictOf } from '../judge/review.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Comparison } from './judging.ts';
import type { Progress } from './progress.ts';

/** What is to be done with a visit. */
export interface Settled {
  readonly visit: Visit;
  /** Its records go into the archive. */
  readonly stored: boolean;
  readonly brought: Pick<Brought, 'follows' | 'words'>;
  /** What it was compared by; absent where there was nothing to compare with. */
  readonly judged?: Judged;
}

interface Judged {
  readonly page: number;
  readonly server: number;
  readonly edits: readonly Edit[];
  readonly verdict: Verdict | 'same';
}

/** A visit of this round at which a page differed. */
interface Provisional {
  readonly page: number;
  readonly edits: readonly Edit[];
  readonly learned: Learned;
  verdict: Verdict | 'same';
}

/** Visits of one round that are remembered for its end; those beyond are news, or noise, as they seemed to be. */
const MOST_REMEMBERED = 200_000;

interface VerdictParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
}

export class Verdicts {
  readonly #parts: VerdictParts;
  readonly #progress: Progress;
  readonly #servers = new Map<number, ServerKnowledge>();
  readonly #round = new Map<number, Provisional[]>();
  #remembered = 0;

  constructor(parts: VerdictParts, progress: Progress) {
    this.#parts = parts;
    this.#progress = progress;
  }

  settle(visit: Visit, found: Comparison | undefined): Settled {
    if (!found) return { visit, stored: visit.record !== undefined && visit.stage !== 'stamp', brought: {} };
    const { ledger, frontier } = this.#parts;
    const page = frontier.admission.find(visit.url);
    const server = ledger.pages.get(page)!.server;
    const { edits, small, measured } = found;
    const own = frontier.options.detector === 'content';
    const verdict = own ? verdictOf(this.of(server), edits, this.placesOf(page)) : 'news';
    const words = measured ? { words: found.words } : {};
    const judged: Judged = { page, server, edits, verdict };
    if (verdict === 'news') {
      const stage = own && visit.stage !== 'image' ? stageOf(edits) : visit.stage;
      return { visit: { ...visit, ...(stage && { stage }) }, stored: true, brought: words, judged };
    }
    const same: Visit = { ...visit, outcome: 'same', reason: 'unchanged', stage: sameStage(verdict, visit) };
    const follows = { ...found.follows, edited: edits.length > 0 };
    return { visit: same, stored: !small, brought: small ? { ...words, follows } : words, judged };
  }

  /** The visit was learned from. */
  learned({ judged }: Settled, learned: Learned | undefined): void {
    if (!judged || !learned || judged.edits.length === 0) return;
    const { page, server, edits, verdict } = judged;
    const places = this.placesOf(page);
    remember(places, edits);
    this.#parts.ledger.masks.putPage(page, [...places]);
    if (++this.#remembered > MOST_REMEMBERED) return;
    const round = this.#round.get(server) ?? [];
    this.#round.set(server, round);
    round.push({ page, edits, learned, verdict });
  }

  /** Looks at all edits of the round together. Inside the caller's transaction. */
  review(): void {
    const { ledger, frontier } = this.#parts;
    for (const [server, round] of this.#round) {
      const knowledge = this.of(server);
      const common = review(knowledge, round, round[0]!.learned.lesson.lane.pages);
      for (const each of round) {
        if (each.verdict !== 'news') continue;
        const verdict = verdictOf(knowledge, each.edits, this.placesOf(each.page), common);
        if (verdict === 'news' || verdict === 'same') continue;
        each.verdict = verdict;
        frontier.learning.relabel(each.learned, verdict === 'shared' ? 'template' : 'noise');
        this.#progress.relabelled();
      }
      ledger.masks.putServer(server, knowledge.save());
    }
    this.#round.clear();
    this.#remembered = 0;
  }

  of(server: number): ServerKnowledge {
    let knowledge = this.#servers.get(server);
    if (!knowledge) {
      knowledge = new ServerKnowledge(this.#parts.ledger.masks.ofServer<Saved>(server));
      this.#servers.set(server, knowledge);
    }
    return knowledge;
  }

  placesOf(page: number): Places {
    return new Map(this.#parts.ledger.masks.ofPage<[]>(page));
  }
}

function sameStage(verdict: Verdict | 'same', { stage }: Visit): Stage {
  if (verdict === 'same') return stage === 'stamp' ? 'stamp' : 'content';
  return verdict === 'shared' ? 'template' : 'noise';
}

/** What a reader would name first. */
function stageOf(edits: readonly Edit[]): Stage {
  if (edits.some(({ list }) => list === 'text')) return 'text';
  const references = edits.filter(({ list }) => list === 'reference');
  if (references.length === 0) return 'structure';
  return references.every(({ picture }) => picture) ? 'image' : 'links';
}
