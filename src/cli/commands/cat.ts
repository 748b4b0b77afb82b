/** `skein cat URL`: the stored body, decoded, byte for byte. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { meaningOf } from '../../errand/reasons.ts';
import { type Found, findPage } from '../../home/answers/lookup.ts';
import { inferredNote, openCopies } from '../../home/copies/copies.ts';
import { bodyOf } from '../../home/copies/copy-text.ts';
import { FLAG_FILTERED, FLAG_NOARCHIVE } from '../../ledger/pages/known-row.ts';
import { dataOption, declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { shellWord } from '../print/terminal.ts';

export function addCatCommand(program: Command): void {
  const command = program
    .command('cat')
    .argument('<url>', 'the page')
    .option('--head', 'print the status line and headers before it')
    .option('--json', 'print one JSON object, with the body as text ("body") or what is none as "base64"')
    .addHelpText('after', '\nExample:\n  skein cat https://example.org/ > page.html');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const copies = openCopies(ledger, data);
    const { page, known } = findPage(ledger, url);
    const current = known && copies.current(known);
    if (!current) {
      throw new SkeinError(
        'not-found',
        `There is no stored copy of ${page.url}: ${whyNot({ page, known })}.`,
        `See: skein show ${shellWord(page.url)}${dataOption(data)}`,
      );
    }
    const { copy, inferred } = current;
    const { bytes, problem } = copy.decoded();
    copies.close();
    ledger.close();
    if (given['json']) {
      const headers = Object.fromEntries(copy.headers);
      const { time, status } = copy;
      printJson({ url: page.url, time, status, inferred, headers, ...bodyOf(copy), problem });
      return;
    }
    // Whoever reads the bytes alone is told beside them.
    if (inferred && !given['head']) console.error(inferredNote(inferred));
    if (given['head']) process.stdout.write(copy.head);
    process.stdout.write(bytes);
  });
}

function whyNot({ page, known }: Found): string {
  const flags = known?.flags ?? 0;
  if (flags & FLAG_NOARCHIVE) return 'it asks not to be archived';
  const code = flags & FLAG_FILTERED ? 'filtered' : (page.refused ?? known?.reason);
  if (code === undefined) return 'it was not visited yet';
  return meaningOf(code);
}
