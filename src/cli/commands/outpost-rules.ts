/** `skein outpost rules`: what the owner of an outpost allows, shown and changed while it runs. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { CEILINGS, type Ceilings } from '../../outpost/owner/ceilings.ts';
import type { QuotaTerms } from '../../outpost/owner/quota.ts';
import { changeRules } from '../../outpost/standing-outpost.ts';
import { parseSize } from '../options/options.ts';
import { size } from '../print/terminal.ts';

/** What the owner may say at `join` and change later. */
export function ownerOptions(command: Command): Command {
  return command
    .option('--pages-a-day <n>', 'most pages to visit from here a day; none = no limit (default)')
    .option('--bytes-a-day <size>', 'most bytes between here and servers a day; none = no limit (default)')
    .option('--least-pace <seconds>', 'shortest time between two requests to one server (default 0.1)')
    .option('--most-connections <n>', 'connections to one server (default 8)')
    .option('--longest-page <size>', 'bytes of one page (default 32MB)')
    .option('--memory <size>', 'bytes of pages in flight at once (default 512MB)')
    .option('--most-errands <n>', 'errands in progress at once (default 4096)');
}

/** A quota of 0 means: no limit. */
export function quotaOf(given: Record<string, unknown>): QuotaTerms {
  const { pagesADay, bytesADay } = given;
  return {
    ...(pagesADay !== undefined && { pages: pagesADay === NONE ? 0 : whole(pagesADay, '--pages-a-day') }),
    ...(bytesADay !== undefined && { bytes: bytesADay === NONE ? 0 : some(bytesADay as string, '--bytes-a-day') }),
  };
}

/** Lifts a limit that was set. */
const NONE = 'none';

function some(text: string, flag: string): number {
  const bytes = parseSize(text);
  if (bytes > 0) return bytes;
  throw new SkeinError('bad-option', `${flag} takes a size above 0, or none for no limit.`);
}

export function ceilingsOf(given: Record<string, unknown>): Partial<Ceilings> {
  const { leastPace, mostConnections, longestPage, memory, mostErrands } = given;
  return {
    ...(leastPace !== undefined && { pace: seconds(leastPace, '--least-pace') }),
    ...(mostConnections !== undefined && { connections: whole(mostConnections, '--most-connections') }),
    ...(longestPage !== undefined && { bodyBytes: parseSize(longestPage as string) }),
    ...(memory !== undefined && { memory: parseSize(memory as string) }),
    ...(mostErrands !== undefined && { errands: whole(mostErrands, '--most-errands') }),
  };
}

export function addRules(outpost: Command, directory: string): void {
  const command = outpost
    .command('rules')
    .description('show or change what this machine allows its home; applies within seconds')
    .option('--directory <dir>', `where the outpost keeps its key (default ./${directory})`, directory)
    .addHelpText('after', '\nExample:\n  skein outpost rules --least-pace 1 --pages-a-day 20000');
  ownerOptions(command).action((given: Record<string, unknown>) => {
    const { quota, ceilings } = changeRules(given['directory'] as string, {
      quota: quotaOf(given),
      ceilings: ceilingsOf(given),
    });
    const { pace, connections, bodyBytes, memory, errands } = { ...CEILINGS, ...ceilings };
    const { pages, bytes } = quota ?? {};
    console.log(`between two requests to one server  ${pace / 1000} s at least
connections to one server            ${connections}
one page                             ${size(bodyBytes)}
pages on their way at once           ${size(memory)}
errands at once                      ${errands}
pages a day                          ${pages ?? 'no limit'}
bytes a day                          ${bytes === undefined ? 'no limit' : size(bytes)}`);
  });
}

function seconds(text: unknown, flag: string): number {
  const number = Number(text);
  if (number >= 0 && number <= 3600) return Math.round(number * 1000);
  throw new SkeinError('bad-option', `${flag} takes seconds, from 0 to 3600.`);
}

export function whole(text: unknown, flag: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new SkeinError('bad-option', `${flag} takes a whole number above 0.`);
}
