/**
 * Forgetting removes pages from a partition with all their copies; tombstones keep them from coming back. Each step is committed
 * as a whole and can be repeated, so a command that was killed is simply run again.
 */
import { existsSync } from 'node:fs';
import { type ForgetTarget, matcherOf } from '../../errand/scope/forgotten.ts';
import { forgottenIn, setForgotten } from '../../frontier/admission/crawl-bounds.ts';
import { forgetRules } from '../../frontier/admission/rules.ts';
import { MemoryFile } from '../../frontier/memory-file.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NamedCopy } from '../../ledger/storage/dropped.ts';
import { searchFile } from '../indexing/indexing.ts';
import { compact, worthCompacting } from './compaction.ts';
import { References } from './references.ts';
import { deleteReplaced, type HouseParts } from './stored-records.ts';

export interface ForgottenPages {
  readonly pages: number;
  /** Stored versions of them. */
  readonly copies: number;
  /** Bytes that left the disk. */
  readonly bytes: number;
}

interface ForgetOptions {
  /** Called now and then with what is being done, and how far it is. */
  readonly say?: (text: string) => void;
}

/** Bytes written for heirs in one transaction, and pages forgotten in one. */
const BYTES_AT_ONCE = 8_000_000;
const PAGES_AT_ONCE = 500;

/** Pages that would be forgotten. */
export function matching(ledger: Ledger, targets: readonly ForgetTarget[]): string[] {
  const match = matcherOf(targets);
  return [...ledger.storage.forgetting.pages()].filter(({ url }) => match(url)).map(({ url }) => url);
}

export async function forget(
  parts: HouseParts,
  targets: readonly ForgetTarget[],
  { say = () => {} }: ForgetOptions = {},
): Promise<ForgottenPages> {
  const { ledger, commit } = parts;
  const { forgetting } = ledger.storage;
  forgetting.erase();
  setForgotten(ledger.settings, [...new Set([...forgottenIn(ledger.settings), ...targets.map(({ text }) => text)])]);
  forgetting.disownMemory();
  commit();
  new MemoryFile(ledger).tidy();
  const match = matcherOf(targets);
  const pages = new Set([...forgetting.pages()].filter(({ url }) => match(url)).map(({ id }) => id));
  say(`${pages.size.toLocaleString('en')} pages`);
  const copies = forgetPages(parts, pages, serversOf(ledger, targets), say);
  say('links to them');
  forgetting.cutTies(new Set([...forgetting.tombstones()].map(({ id }) => id)));
  for (const server of serversOf(ledger, targets)) forgetting.forgetServer(server);
  commit();
  await forgetInIndex(ledger, say);
  const bytes = await compactNow(parts, say);
  ledger.commit();
  forgetting.vacuum();
  ledger.begin();
  return { pages: pages.size, copies, bytes };
}

/** Returns how many copies went. */
function forgetPages(
  parts: HouseParts,
  pages: ReadonlySet<number>,
  servers: ReadonlySet<number>,
  say: (text: string) => void,
): number {
  const { ledger, commit } = parts;
  const { dropped, forgetting } = ledger.storage;
  const references = new References(parts);
  const going = ({ page }: NamedCopy) => pages.has(page);
  let [copies, done, since, written] = [0, 0, 0, 0];
  try {
    references.learn();
    for (const page of pages) {
      const held = dropped.copiesOf(page);
      if (held.length > 0) forgetting.note(page);
      for (const copy of held) {
        written += references.handOver(copy, going, true);
        dropped.drop(copy, true);
        copies++;
      }
      const { server } = ledger.pages.get(page)!;
      forgetting.forget(page, servers.has(server) ? 0 : server);
      done++;
      if (++since < PAGES_AT_ONCE && written < BYTES_AT_ONCE) continue;
      commit();
      say(`${done.toLocaleString('en')} of ${pages.size.toLocaleString('en')} pages`);
      [since, written] = [0, 0];
    }
    commit();
  } finally {
    references.close();
  }
  return copies;
}

/** Servers that are to be forgotten as a whole. */
function serversOf(ledger: Ledger, targets: readonly ForgetTarget[]): Set<number> {
  const match = matcherOf(targets.filter(({ kind }) => kind === 'server'));
  return new Set([...ledger.servers.all()].filter(({ origin }) => match(`${origin}/`)).map(({ id }) => id));
}

/** Removes all tombstones from the search index, if there is one. */
async function forgetInIndex(ledger: Ledger, say: (text: string) => void): Promise<void> {
  const file = searchFile(ledger.directory);
  if (!existsSync(file)) return;
  say('the search index');
  const { forgetPages: forgetInFile } = await import('../../search/forget.ts');
  forgetInFile(
    file,
    [...ledger.storage.forgetting.tombstones()].map(({ id }) => id),
  );
}

/** Compacts segments with urgent bytes, and deletes their files; returns the bytes that left the disk. */
async function compactNow(parts: HouseParts, say: (text: string) => void): Promise<number> {
  const { ledger } = parts;
  const urgent = worthCompacting(parts).filter(segment => segment.urgent);
  const bytes = urgent.reduce((sum, segment) => sum + segment.bytes, 0);
  let moved = 0;
  for await (const step of compact(
    parts,
    urgent.map(({ segment }) => segment),
  )) {
    moved += step;
    say(`segments are written anew: ${Math.round(moved / 1e6).toLocaleString('en')} MB`);
  }
  ledger.commit();
  deleteReplaced(ledger, ledger.directory);
  ledger.begin();
  return bytes;
}

/** Lifts these patterns, and lets pages come back that match them and no other pattern; returns how many. */
export function allow(ledger: Ledger, targets: readonly ForgetTarget[]): number {
  const match = matcherOf(targets);
  const texts = new Set(targets.map(({ text }) => text));
  ledger.begin();
  setForgotten(
    ledger.settings,
    forgottenIn(ledger.settings).filter(text => !texts.has(text)),
  );
  const still = matcherOf(forgottenIn(ledger.settings).map(text => ({ text })));
  let pages = 0;
  for (const { id, url } of [...ledger.storage.forgetting.tombstones()]) {
    if (!match(url) || still(url)) continue;
    ledger.storage.forgetting.allow(id);
    pages++;
  }
  ledger.storage.forgetting.disownMemory();
  forgetRules(ledger);
  ledger.commit();
  return pages;
}
