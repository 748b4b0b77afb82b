/** `skein ping URL…`: a notice that pages have changed, believed as far as such notices have been true. */
import type { Command } from 'commander';
import { pingPages } from '../../engine/house/ping.ts';
import { type HomeClient, runningHome } from '../../home/door.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, table } from '../print/terminal.ts';

export function addPingCommand(program: Command): void {
  const command = program
    .command('ping')
    .argument('<urls...>', 'the pages')
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      `
How much sooner depends on how accurate earlier notices of the same server were.

Example:
  skein ping https://example.org/news https://example.org/`,
    );
  declare(command, ['data']).action(async (urls: string[], given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const running = await runningHome(data);
    if (running) return through(running.client, urls, given['json'] === true);
    const moved = pingPages(data, urls);
    if (given['json']) for (const each of moved) printJson(each);
    else print(moved);
  });
}

/** A running home holds the collection, so the notice goes through its door. */
async function through(home: HomeClient, urls: readonly string[], json: boolean): Promise<void> {
  for (const url of urls) {
    const { done } = await home.order({ kind: 'ping', url });
    if (json) printJson({ url, done });
    else console.log(`${harmless(url)}: ${done}`);
  }
}

function print(moved: readonly { url: string; due: number | null }[]): void {
  const rows = moved.map(({ url, due }) => [
    due === null ? 'at its first visit' : due <= Date.now() ? 'now' : moment(due),
    harmless(url),
  ]);
  console.log(table(['due', 'url'], rows));
}
