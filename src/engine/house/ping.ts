/** Tells a collection that pages have changed. Not while a run works in it. */
import { Schedule } from '../../frontier/schedule/schedule.ts';
import { neverHeard, urlsMeant } from '../../home/answers/lookup.ts';
import { ownPage } from '../../questions/page/page.ts';
import { changeLedgers } from './open-ledgers.ts';

/** The pages with their new due times; null = not visited yet. */
export function pingPages(data: string, texts: readonly string[]): { url: string; due: number | null }[] {
  return changeLedgers(data, ledgers => {
    const found = texts.map(text => {
      const urls = urlsMeant(text);
      for (const ledger of ledgers) {
        const page = ownPage(ledger, urls)?.page;
        if (page) return { ledger, page };
      }
      throw neverHeard(urls[0]!);
    });
    const schedules = new Map(ledgers.map(ledger => [ledger, new Schedule(ledger)]));
    for (const { ledger, page } of found) schedules.get(ledger)!.ping(page.id, Date.now());
    return found.map(({ ledger, page }) => ({ url: page.url, due: ledger.pages.known(page.id)?.due ?? null }));
  });
}
