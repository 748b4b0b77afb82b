/** `skein links URL`: who links to a page, and where it links to. */
import type { Command } from 'commander';
import { askWhole } from '../../engine/open-collection.ts';
import { linksInQuestion, linksOutQuestion } from '../../questions/page/links.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, table, thousands } from '../print/terminal.ts';

export function addLinksCommand(program: Command): void {
  const command = program
    .command('links')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein links https://example.org/');
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const about = aboutUrl(url);
    const { url: found, links: outgoing } = await collection.ask(linksOutQuestion, about);
    const incoming = await collection.ask(linksInQuestion, { ...about, urls: [found] });
    endAsking(collection);
    if (given['json']) return printJson({ url: found, in: incoming, out: outgoing });
    print(`Links to this page: ${thousands(incoming.length)}`, incoming);
    console.log();
    print(`Links from this page: ${thousands(outgoing.length)}`, outgoing);
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
