/** Forgets pages of a whole collection, partition after partition. Not while a run works in it. */
import { SkeinError } from '../../base/errors.ts';
import { type ForgetTarget, matcherOf, parseTarget } from '../../errand/scope/forgotten.ts';
import { forgottenIn } from '../../frontier/admission/crawl-bounds.ts';
import { allow, type ForgottenPages, forget, matching } from '../../home/house/forget.ts';
import { openHouse } from '../../home/house/stored-records.ts';
import { readCollection } from '../../ledger/collection/collection.ts';
import { Ledger, lockCollection } from '../../ledger/ledger.ts';
import { hasRules } from '../../notify/place.ts';
import { bringForHouse, copyOnce } from '../offsite.ts';
import { openLedger, requireCollection } from '../open-ledger.ts';

/** Forgets URLs, patterns and servers, in every partition on this machine. */
export async function forgetIn(
  data: string,
  given: readonly string[],
  say: (text: string) => void = () => {},
): Promise<ForgottenPages> {
  const targets = targetsOf(given);
  requireCollection(data);
  const { here, partitions } = readCollection(data);
  const lock = partitions > 1 ? lockCollection(data) : undefined;
  let sum: ForgottenPages = { pages: 0, copies: 0, bytes: 0 };
  try {
    for (const { directory } of here) {
      await bringForHouse(directory);
      const house = openHouse(directory);
      try {
        const { pages, copies, bytes } = await forget(house, targets, { say });
        sum = { pages: sum.pages + pages, copies: sum.copies + copies, bytes: sum.bytes + bytes };
      } finally {
        await house.close();
      }
    }
    await copyOnce(
      here.map(({ directory }) => directory),
      say,
    );
    await forgetTold(data, matcherOf(targets));
  } finally {
    lock?.close();
  }
  return sum;
}

/** Forgets changes of these pages that notification rules have found. */
async function forgetTold(data: string, matches: (url: string) => boolean): Promise<void> {
  if (!hasRules(data)) return;
  const { Notifier } = await import('../../notify/notifier.ts');
  const notifier = new Notifier(data);
  try {
    notifier.forget(matches);
  } finally {
    notifier.close();
  }
}

/** URLs that would be forgotten. */
export function wouldForget(data: string, given: readonly string[]): string[] {
  const targets = targetsOf(given);
  requireCollection(data);
  return readCollection(data).here.flatMap(({ directory }) => {
    const ledger = openLedger(directory);
    try {
      return matching(ledger, targets);
    } finally {
      ledger.close();
    }
  });
}

/** Lets forgotten pages that match come back; returns how many tombstones were lifted. */
export function allowAgain(data: string, given: readonly string[]): number {
  const targets = targetsOf(given);
  requireCollection(data);
  const { here, partitions } = readCollection(data);
  const lock = partitions > 1 ? lockCollection(data) : undefined;
  try {
    return here.reduce((sum, { directory }) => {
      const ledger = new Ledger(directory, 'write');
      try {
        return sum + allow(ledger, targets);
      } finally {
        ledger.close();
      }
    }, 0);
  } finally {
    lock?.close();
  }
}

/** The patterns that keep pages from coming back, as the user gave them. */
export function forgottenTargets(data: string): string[] {
  requireCollection(data);
  const all = readCollection(data).here.flatMap(({ directory }) => {
    const ledger = openLedger(directory);
    try {
      return forgottenIn(ledger.settings);
    } finally {
      ledger.close();
    }
  });
  return [...new Set(all)];
}

function targetsOf(given: readonly string[]): ForgetTarget[] {
  if (given.length === 0) throw new SkeinError('bad-option', 'Name what to forget: a URL, a pattern or a server.');
  return given.flatMap(parseTarget);
}
