/** `skein links URL`: who links to a page, and where it links to. */
import type { Command } from 'commander';
import { openLedger } from '../../engine/open-ledger.ts';
import { findPage } from '../../home/answers/lookup.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, plural, table } from '../print/terminal.ts';

export function addLinksCommand(program: Command): void {
  const command = program
    .command('links')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein links https://example.org/');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const { page } = findPage(ledger, url);
    const urlOf = (id: number) => ledger.pages.get(id)?.url ?? '';
    const outgoing = ledger.links
      .out(page.id)
      .filter(link => link.target !== 0)
      .map(({ target, anchor, nofollow }) => ({ url: urlOf(target), anchor, nofollow }));
    const incoming = ledger.links
      .in(page.id)
      .map(({ source, anchor, nofollow }) => ({ url: urlOf(source), anchor, nofollow }));
    ledger.close();
    if (given['json']) return printJson({ url: page.url, in: incoming, out: outgoing });
    print(`${plural(incoming.length, 'page links', 'pages link')} to it`, incoming);
    console.log();
    print(`It links to ${plural(outgoing.length, 'page')}`, outgoing);
  });
}

function print(heading: string, links: readonly { url: string; anchor: string; nofollow: boolean }[]): void {
  console.log(paint('bold', heading));
  const rows = links.map(({ url, anchor, nofollow }) => [
    harmless(anchor).slice(0, 40),
    harmless(url),
    nofollow ? 'nofollow' : '',
  ]);
  if (rows.length > 0) console.log(table(['anchor', 'url', ''], rows));
}
