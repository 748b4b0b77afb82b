/** `skein service`: keeps a collection fresh as a service of systemd. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { requireCollection } from '../../engine/open-ledger.ts';
import { declare, values } from '../options/options.ts';
import { harmless } from '../print/terminal.ts';
import { serviceUnit } from '../service-unit.ts';

export function addServiceCommand(program: Command): void {
  const service = program
    .command('service')
    .addHelpText('after', '\nExamples:\n  skein service install -- --budget 10% --workbench\n  skein service status');
  addInstall(service);
  const named = (name: string, about: string) =>
    service
      .command(name)
      .description(about)
      .option('--name <name>', 'of the unit', 'skein')
      .addHelpText('after', `\nExample:\n  skein service ${name}`);
  named('uninstall', 'stop the service and remove the unit; the collection stays').action(given =>
    uninstall(given.name),
  );
  named('status', 'show the state that systemd reports').action(given => {
    process.exitCode = systemctl('status', '--no-pager', unitOf(given.name)).status ?? 1;
  });
}

function addInstall(service: Command): void {
  const command = service
    .command('install [options...]')
    .description('write a unit that runs "skein watch" with these options, and start it')
    .option('--name <name>', 'of the unit', 'skein')
    .option('--print', 'only print the unit')
    .addHelpText('after', '\nExample:\n  skein service install --data ./skein-data -- --budget 200MB --workbench');
  declare(command, ['data']).action(async (options: string[], given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    const directory = resolve(data);
    const name = String(given['name']);
    const file = unitFile(name);
    const skein = fileURLToPath(new URL('../../../bin/skein.js', import.meta.url));
    const unit = serviceUnit({
      name,
      command: [process.execPath, skein, 'watch', '--data', directory, ...options],
      data: directory,
      user: isRoot() ? statSync(directory).uid : undefined,
    });
    if (given['print']) {
      process.stdout.write(unit);
      return;
    }
    write(file, unit);
    systemctl('daemon-reload');
    const { status } = systemctl('enable', '--now', unitOf(name));
    if (status !== 0) {
      throw new SkeinError(
        'refused',
        `${file} was written, but systemd did not start it.`,
        'See "skein service status".',
      );
    }
    console.log(`${harmless(file)} now runs "skein watch", and again after each boot.`);
  });
}

function uninstall(name: string): void {
  const file = unitFile(name);
  if (!existsSync(file)) {
    throw new SkeinError(
      'not-found',
      `There is no unit ${file}.`,
      'Name it with --name, as the user who installed it.',
    );
  }
  systemctl('disable', '--now', unitOf(name));
  rmSync(file);
  systemctl('daemon-reload');
  console.log(`${harmless(file)} was removed. The collection stays.`);
}

const isRoot = () => process.getuid?.() === 0;

function unitOf(name: string): string {
  if (/^[a-z0-9][a-z0-9_.@-]{0,60}$/i.test(name)) return `${name}.service`;
  throw new SkeinError(
    'bad-option',
    `"${name}" cannot be the name of a unit.`,
    'Use letters, digits, dots and hyphens.',
  );
}

/** Root installs for the machine, others for themselves. */
function unitFile(name: string): string {
  const folder = isRoot() ? '/etc/systemd/system' : join(homedir(), '.config', 'systemd', 'user');
  return join(folder, unitOf(name));
}

function write(file: string, unit: string): void {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, unit);
  } catch (error) {
    throw new SkeinError('refused', `${file} cannot be written: ${systemWords(error)}.`, 'See it with --print.');
  }
}

function systemctl(...words: string[]): { readonly status: number | null } {
  const done = spawnSync('systemctl', [...(isRoot() ? [] : ['--user']), ...words], { stdio: 'inherit' });
  if (!done.error) return done;
  throw new SkeinError('refused', 'There is no systemd here.', 'skein service install --print shows the unit.');
}
