/** `skein verify`: does the archive say what the ledger says, and does every byte of it check? */
import type { Command } from 'commander';
import { exitCodes } from '../../base/errors.ts';
import { askCollection, askWhole } from '../../engine/open-collection.ts';
import { type Repaired, repair } from '../../home/checks/repair.ts';
import { verifyCollection } from '../../home/checks/verify.ts';
import { Ledger, lockCollection } from '../../ledger/ledger.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import { mergedVerified, type Verified, verifiedOf, verifyQuestion } from '../../questions/whole/verify.ts';
import { declare, values } from '../options/options.ts';
import { counting } from '../print/counting.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, plural, size } from '../print/terminal.ts';

/** Problems that people are shown; --json has them all. */
const SHOWN = 50;

export function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .option('--repair', 'remove lost copies from the ledger; the next run fetches those pages again')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  skein verify && echo all is well\n  skein verify --repair\n\nExits with 6 when something is wrong.',
    );
  declare(command, ['data', 'engine']).action(async (given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = given['repair'] ? askCollection(data) : await askWhole(data, engine); // looked for, never begun
    const watch = counting(records => `${plural(records, 'record')} read`, { quiet: given['json'] === true });
    const { report, repaired } = given['repair']
      ? await repairHere(collection, watch)
      : { report: await collection.ask(verifyQuestion, {}, watch), repaired: undefined };
    watch(0, true);
    endAsking(collection);
    if (report.problems.length > 0 && !repaired) process.exitCode = exitCodes.damaged;
    if (given['json']) printJson({ ...report, repaired: repaired ?? null });
    else tell(report, repaired);
  });
}

interface Mended {
  readonly report: Verified;
  /** Undefined where a ledger is damaged: nothing was compared with it. */
  readonly repaired: Repaired | undefined;
}

/** What is on this disk, partition by partition. */
async function repairHere(collection: OpenCollection, watch: (records: number) => void): Promise<Mended> {
  using opened = new DisposableStack();
  if (collection.partitions > 1) opened.adopt(lockCollection(collection.directory), lock => lock.close());
  const reports: Verified[] = [];
  let repaired: Repaired | undefined;
  for (const reader of collection.here) {
    const { directory } = reader;
    reader.close();
    const ledger = new Ledger(directory, 'write');
    try {
      const report = await verifyCollection(ledger, watch);
      reports.push(verifiedOf(report, reader));
      if (report.ledgerDamaged) continue;
      const { copies, pages } = repair(ledger, report, Date.now());
      repaired = { copies: (repaired?.copies ?? 0) + copies, pages: (repaired?.pages ?? 0) + pages };
    } finally {
      ledger.close();
    }
  }
  const report = mergedVerified(reports);
  return { report, repaired: report.ledgerDamaged ? undefined : repaired };
}

function tell(report: Verified, repaired: Repaired | undefined): void {
  const { records, segments, bytes, digests, copies, problems, writtenOff } = report;
  console.log(
    `${plural(records, 'record')} in ${plural(segments, 'segment')} (${size(bytes)}), ` +
      `${plural(digests, 'digest')}, ${plural(copies, 'stored copy', 'stored copies')}.`,
  );
  for (const problem of problems.slice(0, SHOWN)) console.log(paint('red', harmless(problem)));
  if (problems.length > SHOWN) console.log(`… and ${problems.length - SHOWN} more; --json lists them all.`);
  if (writtenOff > 0) console.log(`${plural(writtenOff, 'damaged record')} written off by a repair.`);
  if (problems.length === 0) console.log(paint('green', 'Ledger and archive agree.'));
  else if (repaired) {
    const { copies: lost, pages } = repaired;
    console.log(
      paint('green', `Repaired: removed ${plural(lost, 'copy', 'copies')} from the ledger. `) +
        `${plural(pages, 'page')} will be fetched again by the next crawl or refresh.`,
    );
  } else console.log(`${paint('red', `${plural(problems.length, 'problem')}.`)} ${advice(report)}`);
}

function advice({ ledgerDamaged, lost, problems }: Verified): string {
  if (ledgerDamaged) {
    const whole = problems.every(each => /^(?:partition \d+: )?ledger:/.test(each));
    return `Restore ledger.db from a copy.${whole ? ' The archive itself is intact.' : ''}`;
  }
  if (lost === 0) return 'No copy in the ledger is affected; --repair accepts this.';
  return (
    `${plural(lost, 'copy is', 'copies are')} lost: restore the segments from a copy, ` +
    'or continue without them: skein verify --repair'
  );
}
