/** The visit times that users set for pages: how a collection remembers them, and which visits follow from them. */
import { Timetable } from '../home/timetable/timetable.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nextLook, parseTimed, timedFor } from '../revisit/timetable.ts';
import type { Engine } from './engine.ts';
import { askCollection } from './open-collection.ts';

const SETTING = 'every';

/** The rules given now, or else the last ones; undefined = there are none. */
export function timetableOf({ settings, collection, pool, clock }: Engine, given?: readonly string[]) {
  const rules = (given ?? settings.get<readonly string[]>(SETTING) ?? []).map(parseTimed);
  if (given) {
    for (const { ledger } of collection.partitions) ledger.begin();
    settings.set(SETTING, given);
  }
  return rules.length === 0 ? undefined : new Timetable(pool, clock, rules);
}

/** A page that will be visited, and when. */
export interface ComingLook {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly due: number;
  /** The rule that causes it, as the user wrote it; "schedule" = no rule does. */
  readonly rule: string;
}

/** Soonest first: as the ledger has it, or as a watch with these rules would begin. */
export function comingLooks(data: string, most: number, given?: readonly string[]): ComingLook[] {
  const collection = askCollection(data);
  try {
    const all = collection.here.flatMap(({ ledger }) => {
      const kept = ledger.settings.get<readonly string[]>(SETTING) ?? [];
      const isNew = given !== undefined && given.join('\n') !== kept.join('\n');
      const ruleOf = timedFor((given ?? kept).map(parseTimed));
      const planned = isNew ? plannedBy(ledger, ruleOf) : [];
      const looks = ledger.schedule.due
        .due('pages', Number.MAX_SAFE_INTEGER, most + planned.length)
        .map(({ page, due }) => {
          const { url } = ledger.pages.get(page)!;
          return { url, due, rule: ruleOf(url)?.text ?? 'schedule' };
        });
      return [...planned, ...(isNew ? looks.filter(({ rule }) => rule === 'schedule') : looks)];
    });
    return all.sort((a, b) => a.due - b.due).slice(0, most);
  } finally {
    collection.close();
  }
}

/** Pages that rules name, by when they were last seen. */
function plannedBy({ schedule }: Ledger, ruleOf: ReturnType<typeof timedFor>): ComingLook[] {
  const looks: ComingLook[] = [];
  for (const { url, role, seen_time } of schedule.pages.all()) {
    const rule = role === 0 ? ruleOf(url) : undefined;
    if (rule) looks.push({ url, due: nextLook(rule, seen_time), rule: rule.text });
  }
  return looks;
}
