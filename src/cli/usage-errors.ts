/** What commander finds wrong with a command line, in the words in which every other mistake is answered. */
import type { Command, CommanderError } from 'commander';
import { SkeinError } from '../base/errors.ts';

/** By commander's code: a sentence with what it names. */
const sentences: Readonly<Record<string, (named: string) => string>> = {
  unknownCommand: command => `There is no command ${command}.`,
  unknownOption: option => `There is no option ${option}.`,
  missingArgument: argument => `The argument <${argument}> is missing.`,
  missingMandatoryOptionValue: flags => `${flags} is missing.`,
  optionMissingArgument: flags => `${flags} needs a value.`,
  excessArguments: () => 'There are too many arguments.',
};

export function usageError({ code, message }: CommanderError, program: Command, words: readonly string[]): SkeinError {
  const kind = code.slice('commander.'.length);
  const named = /'(.*?)'/s.exec(message)?.[1] ?? '';
  const group = groupOf(program, words);
  if (kind === 'unknownOption' && group)
    return new SkeinError('bad-option', `"${pathOf(program, words)}" needs a command before ${named}: ${group}.`);
  const sentence = sentences[kind]?.(named) ?? `${message.replace(/^error: /, '')}.`;
  const similar = /\((Did you mean .*\?)\)$/.exec(message)?.[1];
  const lists = kind.startsWith('unknown') ? 'lists them' : 'says what it takes';
  return new SkeinError('bad-option', sentence, similar ?? `"${pathOf(program, words)} --help" ${lists}.`);
}

/** The commands of the one that the words name, if they stop there and it does nothing by itself. */
function groupOf(program: Command, words: readonly string[]): string | undefined {
  const [first = '', next = '-'] = words;
  const group = program.commands.find(each => each.name() === first && each.options.length === 0);
  const names = group?.commands.map(each => each.name()) ?? [];
  return next.startsWith('-') && names.length > 0 ? names.join(', ') : undefined;
}

/** The command that the words name, as far as there is one: `skein notify add`. */
function pathOf(program: Command, words: readonly string[]): string {
  const path = [program.name()];
  let at: Command | undefined = program;
  for (const word of words) {
    at = at.commands.find(each => each.name() === word);
    if (!at) break;
    path.push(word);
  }
  return path.join(' ');
}
