/**
 * The command line: reads, asks the engine, prints. Each command is one file in commands/; this one reads
 * the arguments, turns errors into one sentence and an exit code, and does nothing else.
 */
import './options/mask.ts';
import { Command, CommanderError } from 'commander';
import { exitCodes, SkeinError, systemWords } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { openFilesError, refuseFewFiles } from '../engine/threads/open-files.ts';
import { runtimeOf, runtimeWords } from '../transfer/runtime.ts';
import { commands } from './commands.ts';
import { startThreadEarly } from './prestart.ts';
import { harmlessLines, paint } from './print/terminal.ts';
import { usageError } from './usage-errors.ts';

/** Exit code of Node for a program that waits for what never comes. */
const UNSETTLED = 13;

const program = new Command('skein')
  .description('A web crawler and search engine that fetches only what changed.')
  .version(`${version} (${runtimeWords(runtimeOf())})`)
  .showSuggestionAfterError()
  .configureHelp({
    sortSubcommands: false,
    // Descriptions say what holds by default in words.
    optionDescription: option => option.description,
    subcommandTerm: command => `${command.name()} ${command.usage().replace(/\[(?:options|command)\] ?/g, '')}`.trim(),
  })
  .configureOutput({ writeErr: text => void process.stderr.write(harmlessLines(text)), outputError: () => {} })
  .exitOverride();

// A reader that goes away (`skein pages | head`) is no error; what was found by then (`skein verify | head`) stands.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  console.error(`skein: Standard output cannot be written: ${systemWords(error)}.`);
  process.exit(error.code === 'ENOSPC' ? exitCodes['disk-full'] : 1);
});
// Nobody watches the progress any more; the work goes on.
process.stderr.on('error', () => {});

// Not awaited: in a bundle, commands import from the file that this stands in, which would wait for them for ever.
let over = false;
void main(process.argv.slice(2)).finally(() => {
  over = true;
});
// Something was waited for that nothing can bring any more: Node says so of awaited modules only.
process.once('beforeExit', () => {
  if (!over) process.exitCode = UNSETTLED;
});

async function main(words: readonly string[]): Promise<void> {
  try {
    refuseFewFiles();
    startThreadEarly(words);
    await addCommands(words[0] === 'help' ? words[1] : words[0]);
    await program.parseAsync();
  } catch (error) {
    const { diskError } = await import('../ledger/ledger.ts');
    process.exitCode = report(diskError(error), words);
  }
}

/** The one that is named is loaded; for all others a line of the help is enough. */
async function addCommands(named: string | undefined): Promise<void> {
  for (const { usage, about, load } of commands) {
    if (usage.split(' ', 1)[0] === named) (await load())(program);
    else program.command(usage);
    program.commands.at(-1)!.description(about);
  }
}

function report(thrown: unknown, words: readonly string[]): number {
  if (thrown instanceof CommanderError && /^commander\.(?:help|version)/.test(thrown.code))
    return thrown.exitCode === 0 ? 0 : 2; // it printed what it has to say
  const error =
    thrown instanceof CommanderError ? usageError(thrown, program, words) : openFilesError(fileError(thrown));
  if (!(error instanceof SkeinError)) {
    console.error(paint('red', 'skein: unexpected error, please report it:'), error);
    return 1;
  }
  // It may name what a site, a file or another machine said.
  console.error(paint('red', harmlessLines(`skein: ${error.message}`)));
  if (error.hint) console.error(harmlessLines(error.hint));
  return exitCodes[error.code] ?? 1;
}

/** A file that this user may not read or write is no bug. */
function fileError(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (path === undefined) return error;
  if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'EEXIST')
    return new SkeinError('damaged', `${path} cannot be used: ${systemWords(error)}.`, 'Move or rename it.');
  if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return error;
  return new SkeinError(
    'refused',
    `This user may not access ${path} (${code}).`,
    'Run the command as the user who owns it.',
  );
}
