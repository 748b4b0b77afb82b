/**
 * The rules by which a run refuses pages, each as text. If a rule's text differs from that of the last run, the run judges again
 * the pages that the rule refused, and those that still wait. With the same rules it judges nothing again.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import type { FrontierOptions } from '../options.ts';

/** Reasons that depend on what the user asked for, and not on the URL or the page that links to it. */
export type RuleReason = 'out-of-scope' | 'too-deep' | 'too-many-on-server' | 'irrelevant';

/** The last one refuses at a visit, all others refuse the URL: `--allow-private`. */
type UserRule = RuleReason | 'private-address';

const SETTING = 'rules';

type Texts = Readonly<Partial<Record<UserRule, string>>>;

function textsOf(options: FrontierOptions): Texts {
  const { bounds, depth, pagesPerServer, order, scope, allowPrivate } = options;
  return {
    'out-of-scope': bounds,
    'too-deep': String(depth),
    'too-many-on-server': String(pagesPerServer),
    irrelevant: order === 'focused' ? scope.focus.join() : '',
    'private-address': String(allowPrivate),
  };
}

/** The rules that differ from those of the last run; saves the new ones for the next run. */
export function changedRules(ledger: Ledger, options: FrontierOptions): Set<UserRule> {
  const texts = textsOf(options);
  const before = ledger.settings.get<Texts>(SETTING);
  ledger.settings.set(SETTING, texts);
  if (before === undefined) return new Set();
  return new Set((Object.keys(texts) as UserRule[]).filter(reason => texts[reason] !== before[reason]));
}

/** The rules have changed during a run: the next run judges again what they refused. */
export function forgetRules(ledger: Ledger): void {
  ledger.settings.set(SETTING, {});
}

type PendingPage = ReturnType<Ledger['queries']['scans']['pending']> extends Iterable<infer Row> ? Row : never;

/** The pages that wait for their first visit and are still wanted, in the order in which they were found. */
export function stillPending(
  ledger: Ledger,
  changed: ReadonlySet<UserRule>,
  wanted: (id: number) => boolean,
): Iterable<PendingPage> {
  const pending = ledger.queries.scans.pending();
  if (changed.size === 0) return pending;
  // The newest pages are judged first, so that a limit lets the oldest in.
  return [...pending]
    .reverse()
    .filter(({ id }) => wanted(id))
    .reverse();
}
