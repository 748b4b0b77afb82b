/** `skein outpost forgive`: lets an outpost that was found to lie take part again. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { Quarantine } from '../../home/audit/quarantine.ts';
import { declare, values } from '../options/options.ts';

export function addForgive(outpost: Command): void {
  const command = outpost
    .command('forgive')
    .description('trust an outpost again that was quarantined for delivering false pages')
    .argument('<name>', 'as "skein outposts" names it')
    .addHelpText('after', '\nExample:\n  skein outpost forgive near-the-site');
  declare(command, ['data']).action(async (name: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    if (!new Quarantine(data).remove(name)) {
      throw new SkeinError('not-found', `No outpost of the name ${name} is quarantined in ${data}.`);
    }
    console.log(`${name} is trusted again; a running home applies this within seconds.`);
  });
}
