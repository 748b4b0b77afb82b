/**
 * The command line: the only place that puts things together. Each command is one file in commands/; this one reads
 * the arguments, turns errors into one sentence and an exit code, and does nothing else.
 */
import { Command, CommanderError } from 'commander';
import { exitCodes, SkeinError } from '../base/errors.ts';
import { startThreadsEarly } from './early.ts';
import { paint } from './terminal.ts';
import { version } from './version.ts';

const program = new Command('skein')
  .description('A web crawler and search engine that fetches only what changed.')
  .version(version)
  .showSuggestionAfterError()
  .configureHelp({ sortSubcommands: false })
  .exitOverride();

/** In the order of the help. */
const commands: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  crawl: async () => (await import('./commands/crawl.ts')).addCrawlCommand,
  refresh: async () => (await import('./commands/refresh.ts')).addRefreshCommand,
  watch: async () => (await import('./commands/refresh.ts')).addWatchCommand,
  search: async () => (await import('./commands/search.ts')).addSearchCommand,
  changes: async () => (await import('./commands/changes.ts')).addChangesCommand,
  diff: async () => (await import('./commands/diff.ts')).addDiffCommand,
  history: async () => (await import('./commands/history.ts')).addHistoryCommand,
  why: async () => (await import('./commands/why.ts')).addWhyCommand,
  account: async () => (await import('./commands/account.ts')).addAccountCommand,
  ping: async () => (await import('./commands/ping.ts')).addPingCommand,
  workbench: async () => (await import('./commands/workbench.ts')).addWorkbenchCommand,
  steer: async () => (await import('./commands/steer.ts')).addSteerCommand,
  status: async () => (await import('./commands/status.ts')).addStatusCommand,
  pages: async () => (await import('./commands/pages.ts')).addPagesCommand,
  show: async () => (await import('./commands/show.ts')).addShowCommand,
  cat: async () => (await import('./commands/cat.ts')).addCatCommand,
  links: async () => (await import('./commands/links.ts')).addLinksCommand,
  export: async () => (await import('./commands/export.ts')).addExportCommand,
  index: async () => (await import('./commands/search.ts')).addIndexCommand,
  verify: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  outpost: async () => (await import('./commands/outpost.ts')).addOutpostCommand,
  outposts: async () => (await import('./commands/outposts.ts')).addOutpostsCommand,
  demo: async () => (await import('./commands/demo.ts')).addDemoCommand,
};

// What a command needs is loaded with it, and only the one that was asked for: a sixth of the time of a short command.
const named = process.argv[2] ?? '';
startThreadsEarly(process.argv.slice(2));
const loads = Object.hasOwn(commands, named) ? [commands[named]!] : Object.values(commands);
for (const load of loads) (await load())(program);

// A reader that goes away (`skein pages | head`) is no error; what was found by then (`skein verify | head`) stands.
process.stdout.on('error', error =>
  process.exit((error as NodeJS.ErrnoException).code === 'EPIPE' ? (process.exitCode ?? 0) : 1),
);
// Nobody watches the progress any more; the work goes on.
process.stderr.on('error', () => {});

try {
  await program.parseAsync();
} catch (error) {
  const { diskError } = await import('../ledger/ledger.ts');
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
