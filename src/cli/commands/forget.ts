/** `skein forget`: takes pages out of a collection for good, with every copy, and keeps them from coming back. */
import type { Command } from 'commander';
import { allowAgain, forgetIn, forgottenTargets, wouldForget } from '../../engine/house/forget.ts';
import { dataOption, declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { fold, harmless, plural, shellWord, size, thousands } from '../print/terminal.ts';

/** URLs that --dry-run shows; --json has them all. */
const SHOWN = 20;

export function addForgetCommand(program: Command): void {
  const command = program
    .command('forget')
    .argument('[targets...]', 'a URL, a pattern with *, or a server; without one, list what is blocked')
    .option('--dry-run', 'only show which pages would be deleted')
    .option('--allow', 'undo the block: later crawls may fetch these pages again')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Copies, versions, search index and links go, their bytes leave the disk, and the
next crawl does not bring them back. Stop a crawl or watch first. If it is
interrupted, run the same command again.

Examples:
  skein forget https://example.org/people/jane
  skein forget 'https://example.org/private/*' --dry-run
  skein forget old.example.org
  skein forget --allow old.example.org`,
    );
  declare(command, ['data']).action(async (targets: string[], given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const json = given['json'] === true;
    if (targets.length === 0) return list(forgottenTargets(data), json);
    if (given['dryRun']) return show(wouldForget(data, targets), json);
    if (given['allow']) {
      const allowed = allowAgain(data, targets);
      if (json) printJson({ allowed });
      else console.log(`${plural(allowed, 'page')} may be fetched again by the next crawl.`);
      return;
    }
    const forgotten = await forgetIn(data, targets, text => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2KForgetting: ${text}`);
    });
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    if (json) return printJson(forgotten);
    const { pages, copies, bytes } = forgotten;
    if (pages === 0) {
      const undo = `skein forget --allow ${targets.map(shellWord).join(' ')}${dataOption(data)}`;
      return console.log(
        fold(`No known page matches. Later crawls skip what does; to take that back: ${harmless(undo)}`),
      );
    }
    console.log(
      `Forgot ${plural(pages, 'page')} with ${plural(copies, 'stored copy', 'stored copies')}; ` +
        `${size(bytes)} removed from the archive. Later crawls skip these pages.`,
    );
  });
}

function list(forgotten: readonly string[], json: boolean): void {
  if (json) printJson({ forgotten });
  else console.log(forgotten.length === 0 ? 'Nothing was forgotten.' : forgotten.map(harmless).join('\n'));
}

function show(urls: readonly string[], json: boolean): void {
  if (json) {
    printJson({ urls });
    return;
  }
  for (const url of urls.slice(0, SHOWN)) console.log(harmless(url));
  if (urls.length > SHOWN) console.log(`… and ${thousands(urls.length - SHOWN)} more.`);
  console.log(`${plural(urls.length, 'page')} would be forgotten.`);
}
