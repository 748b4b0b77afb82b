/**
 * The command line: the only place that puts things together. Each command is one file in commands/; this one reads
 * the arguments, turns errors into one sentence and an exit code, and does nothing else.
 */
import { Command, CommanderError } from 'commander';
import { exitCodes, SkeinError } from '../base/errors.ts';
import { diskError } from '../ledger/ledger.ts';
import { addAccountCommand } from './commands/account.ts';
import { addCatCommand } from './commands/cat.ts';
import { addChangesCommand } from './commands/changes.ts';
import { addCrawlCommand } from './commands/crawl.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addDiffCommand } from './commands/diff.ts';
import { addExportCommand } from './commands/export.ts';
import { addHistoryCommand } from './commands/history.ts';
import { addLinksCommand } from './commands/links.ts';
import { addOutpostCommand } from './commands/outpost.ts';
import { addOutpostsCommand } from './commands/outposts.ts';
import { addPagesCommand } from './commands/pages.ts';
import { addPingCommand } from './commands/ping.ts';
import { addRefreshCommand, addWatchCommand } from './commands/refresh.ts';
import { addIndexCommand, addSearchCommand } from './commands/search.ts';
import { addShowCommand } from './commands/show.ts';
import { addStatusCommand } from './commands/status.ts';
import { addSteerCommand } from './commands/steer.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { addWhyCommand } from './commands/why.ts';
import { addWorkbenchCommand } from './commands/workbench.ts';
import { paint } from './terminal.ts';
import { version } from './version.ts';

const program = new Command('skein')
  .description('A web crawler and search engine that fetches only what changed.')
  .version(version)
  .showSuggestionAfterError()
  .configureHelp({ sortSubcommands: false })
  .exitOverride();

for (const add of [
  addCrawlCommand,
  addRefreshCommand,
  addWatchCommand,
  addSearchCommand,
  addChangesCommand,
  addDiffCommand,
  addHistoryCommand,
  addWhyCommand,
  addAccountCommand,
  addPingCommand,
  addWorkbenchCommand,
  addSteerCommand,
  addStatusCommand,
  addPagesCommand,
  addShowCommand,
  addCatCommand,
  addLinksCommand,
  addExportCommand,
  addIndexCommand,
  addVerifyCommand,
  addOutpostCommand,
  addOutpostsCommand,
  addDemoCommand,
]) {
  add(program);
}

// A reader that goes away (`skein pages | head`) is no error.
process.stdout.on('error', error => process.exit((error as NodeJS.ErrnoException).code === 'EPIPE' ? 0 : 1));
// Nobody watches the progress any more; the work goes on.
process.stderr.on('error', () => {});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(diskError(error));
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof SkeinError)) {
    console.error(paint('red', 'skein: an error that should not happen:'), error);
    return 1;
  }
  console.error(paint('red', `skein: ${error.message}`));
  if (error.hint) console.error(error.hint);
  return exitCodes[error.code] ?? 1;
}
