/** `skein cat URL`: the stored body, decoded, byte for byte. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { askWhole } from '../../engine/open-collection.ts';
import { inferredNote } from '../../home/copies/copies.ts';
import { bodyOf } from '../../home/copies/copy-text.ts';
import { copyQuestion, readCopy } from '../../questions/page/copies.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { dataOption, declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmlessLines, shellWord } from '../print/terminal.ts';

export function addCatCommand(program: Command): void {
  const command = program
    .command('cat')
    .argument('<url>', 'the page')
    .option('--head', 'print the status line and headers before it')
    .option('--json', 'print one JSON object, with the body as text ("body") or binary ("base64")')
    .addHelpText('after', '\nExample:\n  skein cat https://example.org/ > page.html');
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const {
      url: found,
      copy: told,
      inferred,
      whyNot,
    } = await collection.ask(copyQuestion, {
      ...aboutUrl(url),
      which: 'current',
    });
    endAsking(collection);
    if (!told) {
      throw new SkeinError(
        'not-found',
        `There is no stored copy of ${found}: ${whyNot}.`,
        `See: skein show ${shellWord(found)}${dataOption(data)}`,
      );
    }
    const copy = readCopy(told);
    const { bytes, problem } = copy.decoded();
    if (given['json']) {
      const headers = Object.fromEntries(copy.headers);
      const { time, status } = copy;
      printJson({ url: found, time, status, inferred, headers, ...bodyOf(copy), problem });
      return;
    }
    // Whoever reads the bytes alone is told beside them.
    if (inferred && !given['head']) console.error(inferredNote(inferred));
    // Programs get the bytes; a terminal must not take any for an order.
    const shown = (part: Uint8Array) => (process.stdout.isTTY ? harmlessLines(Buffer.from(part).toString()) : part);
    if (given['head']) process.stdout.write(shown(copy.head));
    process.stdout.write(shown(bytes));
  });
}
