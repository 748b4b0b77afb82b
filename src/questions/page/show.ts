/** Everything known of a page. */
import { ivalOf } from '../../crawler/detect/image.ts';
import { type Facts, unpackFacts } from '../../errand/facts.ts';
import type { LookedUpPage } from '../../home/answers/lookup.ts';
import { stateOf } from '../../home/answers/why.ts';
import { inferredOf } from '../../home/copies/copies.ts';
import { masksOn, type ShownMask } from '../../home/masks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { roles } from '../../ledger/pages/pages.ts';
import { pageQuestion } from './page.ts';

export const showQuestion = pageQuestion('show', ({ ledger }, found, { now }): Shown => describe(ledger, found, now));

export interface Shown {
  readonly url: string;
  readonly state: string;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
  readonly facts: Readonly<Record<string, unknown>>;
  /** What counts as noise on this page, and why. */
  readonly masks: readonly ShownMask[];
  readonly visits: readonly Readonly<Record<string, string | number | null>>[];
}

function describe(ledger: Ledger, { page, known }: LookedUpPage, now: number): Shown {
  const urlOf = (id: number | null | undefined) => {
    const row = id ? ledger.pages.get(id) : undefined;
    return row && row.refused !== 'forgotten' ? row.url : null;
  };
  const facts = known?.facts ? unpackFacts(known.facts) : undefined;
  const server = page.server === 0 ? undefined : ledger.servers.byId(page.server);
  return {
    url: page.url,
    state: stateOf({ page, known }, server, now),
    details: {
      server: server?.origin ?? null,
      parent: urlOf(page.parent),
      depth: page.depth,
      found: page.found,
      'links to it': ledger.links.backward.saved(page.id),
      // A document to which no link leads: it came through the site itself.
      ...(ledger.links.hidden.of(page.id) && { hidden: ledger.links.hidden.of(page.id)! }),
      title: known?.title ?? null,
      type: known?.media_type ?? null,
      charset: known?.charset ?? null,
      language: known?.language ?? null,
      bytes: known?.bytes ?? null,
      etag: known?.etag ?? null,
      'last-modified': known?.last_modified ?? null,
      lastmod: page.lastmod,
      'first visit': known?.first_time ?? null,
      'last visit': known?.time ?? null,
      // A page that was never there cannot have changed.
      changed: known?.seen_time == null ? null : known.changed_time,
      due: known?.due ?? null,
      noindex: flag(known?.flags, 1),
      nofollow: flag(known?.flags, 2),
      noarchive: flag(known?.flags, 4),
      truncated: flag(known?.flags, 8),
      'not kept by filter': flag(known?.flags, 16),
      canonical: known?.canonical ?? null,
      'moved to': urlOf(known?.moved_to),
      'same bytes as': urlOf(known?.same_as),
      'nearly equal to': urlOf(known?.near),
      'copy handed out': known ? inferredOf(ledger, known) : null,
      segment: known?.segment ?? null,
      offset: known?.place ?? null,
      length: known?.length ?? null,
    },
    masks: masksOn(ledger, page.id, page.server),
    facts: facts ? measuresOf(facts, roles[page.role] === 'image') : {},
    visits: ledger.visits.of(page.id).map(({ time, outcome, reason, status, stage, up, down, ms, outpost }) => ({
      time,
      outcome,
      reason,
      status,
      stage,
      bytes: up + down,
      ms,
      outpost,
    })),
  };
}

/** What the papers' detectors compare. */
function measuresOf(facts: Facts, image: boolean): Shown['facts'] {
  return {
    ...(image && { 'image code': ivalOf(facts).toString() }),
    'ascii count': facts.asciiSum,
    urls: facts.urls,
    keywords: facts.keywords,
    words: facts.words,
    'text code 1': facts.textCode1,
    'text code 2': facts.textCode2,
    levels: facts.levels.join(' '),
    content: Buffer.from(facts.content).toString('hex'),
  };
}

const flag = (flags: number | undefined, bit: number): boolean | null => (flags && flags & bit ? true : null);
