/** The seeds of a whole collection, while no run works in it. */
import { originOf } from '../../base/url.ts';
import { removeSeed } from '../../frontier/admission/seeds.ts';
import { SharedSettings } from '../../ledger/collection/shared-settings.ts';
import type { SeedRow } from '../../ledger/links/seeds.ts';
import { changeLedgers, eachLedger } from './open-ledgers.ts';

/** In the order in which they were given. */
export function seedsIn(data: string): SeedRow[] {
  return eachLedger(data, ({ links }) => links.seeds.all())
    .flat()
    .sort((a, b) => a.found - b.found);
}

/** Takes seeds back; returns how many are left. */
export function removeSeeds(data: string, urls: readonly string[]): number {
  return changeLedgers(data, ledgers => {
    const settings = new SharedSettings(ledgers);
    for (const url of urls) {
      const { ledger } = removeSeed(ledgers, settings, url);
      const origin = originOf(url);
      if (!ledger.settings.seeded().includes(origin)) settings.dropSeeded(origin);
    }
    return ledgers.reduce((sum, { links }) => sum + links.seeds.all().length, 0);
  });
}
