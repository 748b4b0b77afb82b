/**
 * `npm run bench`: runs each bench of this folder in a process of its own, one after another, and gathers what they
 * print into one report, .cache/bench/report.txt.
 *
 *   npm run bench                  all of them, with their defaults
 *   npm run bench -- peers growth  these only
 *   npm run bench -- peers --small     what begins with -- goes to the benches themselves
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const cache = join(folder, '..', '.cache', 'bench');

const given = process.argv.slice(2);
const split = given.findIndex(argument => argument.startsWith('-'));
const names = split < 0 ? given : given.slice(0, split);
const passed = split < 0 ? [] : given.slice(split);

/** Files that benches share. */
const SHARED = ['all.ts', 'histories.ts', 'mutators.ts'];
const known = readdirSync(folder)
  .filter(file => file.endsWith('.ts') && !SHARED.includes(file))
  .map(file => file.slice(0, -3))
  .sort();
const unknown = names.filter(name => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(', ')}; there are ${known.join(', ')}`);
  process.exit(2);
}

/** Prints as it goes, and returns what was printed with the exit code. */
function run(name: string): Promise<{ text: string; code: number }> {
  const child = spawn(process.execPath, [join(folder, `${name}.ts`), ...passed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (data: Buffer) => {
    text += data.toString();
    process.stdout.write(data);
  });
  return new Promise(resolve => child.on('close', code => resolve({ text, code: code ?? 1 })));
}

const parts: string[] = [];
const failed: string[] = [];
for (const name of names.length > 0 ? names : known) {
  const title = `\n######## ${name}\n`;
  console.log(title);
  const { text, code } = await run(name);
  if (code !== 0) failed.push(`${name} (exit ${code})`);
  parts.push(title, text);
}
mkdirSync(cache, { recursive: true });
writeFileSync(join(cache, 'report.txt'), parts.join(''));
const verdicts = parts.join('').match(/^.*\((?:met|missed)\)$/gm) ?? [];
if (verdicts.length > 0) console.log(`\n######## targets\n${verdicts.join('\n')}`);
if (failed.length > 0) console.log(`\nfailed to run: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
