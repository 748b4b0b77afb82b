/** `skein report`: what is wrong with a site, for people, spreadsheets, machines and continuous integration. */
import { basename, extname, resolve } from 'node:path';
import type { Command } from 'commander';
import { namesAddress } from '../../base/domain.ts';
import { SkeinError } from '../../base/errors.ts';
import { nearest } from '../../base/named.ts';
import { version } from '../../base/version.ts';
import { askCollection } from '../../engine/open-collection.ts';
import { userAgent } from '../../errand/agent.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import { toCsv } from '../../report/csv.ts';
import { type CheckName, checkNames, checks, type Level } from '../../report/findings.ts';
import { toHtml } from '../../report/html.ts';
import type { OutsideOptions } from '../../report/outside.ts';
import { makeReport, type Report } from '../../report/report.ts';
import { dataOption, declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { counting } from '../print/counting.ts';
import { endAsking } from '../print/incomplete.ts';
import { jsonText } from '../print/json.ts';
import { writeOut } from '../print/out-file.ts';
import { fold, harmless, paint, plural, roomOf, shortened, table, thousands } from '../print/terminal.ts';

/** Exit code when the report holds what --fail-on names. */
const FOUND = 7;
const levels = ['error', 'warning', 'notice'] as const;
const formats = ['html', 'csv', 'json'] as const;
const names = ['data', 'pace', 'allowPrivate', 'agent'] as const;

export function addReportCommand(program: Command): void {
  const command = program
    .command('report')
    .option('--since <when>', 'only findings new since then: 7d, 12h or a date')
    .option('--only <checks>', 'only these checks, comma separated')
    .option('--external', 'also check URLs outside the collection (other sites, images, styles) with HEAD requests')
    .option('--out <file>', 'write a file instead: .html, .csv or .json')
    .option('--fail-on <level>', 'exit with code 7 at this level or above: error, warning, notice or never', 'error')
    .option('--limit <n>', 'most findings to print for each check (default 10)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
${fold(`Checks: ${checkNames.join(', ')}`, '  ', 78)}

Examples:
  skein report
  skein report --out report.html
  skein report --only broken-link,broken-requisite --external
  skein report --since 1d --fail-on warning`,
    );
  declare(command, names).action(async (given: Record<string, unknown>) => {
    const chosen = await values(given, names);
    const out = given['out'] as string | undefined;
    const format = formatOf(out);
    const failOn = levelOf(String(given['failOn']));
    const only = given['only'] === undefined ? undefined : checksIn(String(given['only']));
    const since = given['since'] === undefined ? 0 : parseWhen(String(given['since']), Date.now());
    const collection = askCollection(chosen.data);
    try {
      const outside = given['external'] ? outsideOf(collection, chosen) : undefined;
      const watch = counting(pages => `${plural(pages, 'page')} read`, { quiet: given['json'] === true });
      const report = await makeReport(collection.here, {
        ...{ now: Date.now(), since, watch },
        ...(only && { only }),
        ...(outside && { outside }),
      });
      watch(0, true);
      if (out !== undefined) await writeOut(out, async file => file.write(written(report, format!, chosen.data)));
      if (given['json']) console.log(written(report, 'json', chosen.data).trimEnd());
      else if (out === undefined) print(report, Number(given['limit'] ?? 10), chosen.data);
      else console.log(`${headline(report)} Written to ${out}.`);
      if (failOn && levels.slice(0, levels.indexOf(failOn) + 1).some(level => report.counts[level] > 0))
        process.exitCode = FOUND;
    } finally {
      endAsking(collection);
    }
  });
}

function outsideOf(
  collection: OpenCollection,
  chosen: { pace: number; allowPrivate: boolean; agent?: string | undefined },
) {
  const ledgers = collection.here.map(({ ledger }) => ledger);
  const known = ledgers.map(ledger => ledger.settings.get<string>('contact')).find(each => each !== undefined);
  const contact = chosen.agent ?? known ?? undefined;
  const servers = ledgers.flatMap(ledger => [...ledger.servers.all()]);
  const seeded = new Set(servers.filter(server => server.seeded).map(({ origin }) => origin));
  const outside: OutsideOptions = {
    userAgent: userAgent(version, contact),
    pace: chosen.pace * 1000,
    anyPrivate: chosen.allowPrivate,
    named: origin => seeded.has(origin) && namesAddress(origin),
  };
  return outside;
}

function written(report: Report, format: (typeof formats)[number], directory: string): string {
  if (format === 'csv') return toCsv(report);
  return format === 'html' ? toHtml(report, basename(resolve(directory))) : `${jsonText(report)}\n`;
}

function formatOf(file: string | undefined): (typeof formats)[number] | undefined {
  if (file === undefined) return undefined;
  const format = formats.find(each => `.${each}` === extname(file).toLowerCase());
  if (format) return format;
  throw new SkeinError(
    'bad-option',
    `A report cannot be written as "${file}".`,
    'Its name ends in .html, .csv or .json.',
  );
}

function levelOf(text: string): Level | undefined {
  if (text === 'never') return undefined;
  const level = levels.find(each => each === text);
  if (level) return level;
  throw new SkeinError('bad-option', `"${text}" is not a level.`, `Choose one of ${levels.join(', ')}, never.`);
}

function checksIn(text: string): CheckName[] {
  return text.split(',').map(part => {
    const name = checkNames.find(each => each === part.trim());
    if (name) return name;
    const near = nearest(part.trim(), checkNames);
    throw new SkeinError(
      'bad-option',
      `There is no check "${part.trim()}".`,
      near ? `Did you mean "${near}"?` : `There are ${checkNames.join(', ')}.`,
    );
  });
}

const colours = { error: 'red', warning: 'yellow', notice: 'dim' } as const;

function headline({ counts, structure, urls }: Report): string {
  const found = levels.map(level => plural(counts[level], level)).join(', ');
  return `${found} in ${plural(structure.pages, 'page')} of ${plural(urls, 'URL')}.`;
}

function print(report: Report, limit: number, directory: string): void {
  console.log(paint('bold', headline(report)));
  const rows = checkNames.flatMap(check => {
    const count = report.checks[check];
    return count ? [[paint(colours[checks[check].level], checks[check].level), count, checks[check].title]] : [];
  });
  if (rows.length > 0) console.log(`\n${table(['level', 'found', 'check'], rows)}`);
  for (const check of checkNames) if (report.checks[check]) printCheck(report, check, limit);
  const { components, in: incoming, links, pages } = report.structure;
  const share = pages === 0 ? 0 : Math.round((components.core / pages) * 100);
  console.log(
    `\n${paint('bold', 'Structure')}\n${plural(links, 'link')} between pages, ${incoming.mean} to a page on average; ` +
      `${share}% of the pages reach each other, ${plural(components.weak, 'separate part')}.`,
  );
  if (report.unchecked > 0)
    console.log(`${plural(report.unchecked, 'URL')} outside the collection not checked; --external checks them.`);
  console.log(`Full report with plots: skein report${dataOption(directory)} --out report.html`);
}

/** `http-404` says no more than 404. */
function whatOf(status: number, detail: string): string {
  const told = detail === `http-${status}` ? '' : detail;
  return [status >= 400 ? String(status) : '', told].filter(Boolean).join(' ');
}

/** Pages that are named with a finding. */
const MOST_RELATED = 3;

function printCheck({ findings }: Report, check: CheckName, limit: number): void {
  const found = findings.filter(finding => finding.check === check);
  const room = roomOf();
  console.log(`\n${paint('bold', checks[check].title)}  ${paint('dim', checks[check].means)}`);
  for (const { url, status, detail, related } of found.slice(0, limit)) {
    const what = whatOf(status, harmless(detail));
    console.log(
      `  ${shortened(harmless(url), Math.max(36, room - 2))}${what === '' ? '' : `\n    ${paint('dim', what)}`}`,
    );
    for (const each of related.slice(0, MOST_RELATED)) {
      const anchor = each.anchor === '' ? '' : ` "${harmless(each.anchor).slice(0, 40)}"`;
      console.log(`    ${paint('dim', `on ${shortened(harmless(each.url), Math.max(30, room - 50))}${anchor}`)}`);
    }
    if (related.length > MOST_RELATED) console.log(paint('dim', `    and ${related.length - MOST_RELATED} more`));
  }
  if (found.length > limit) console.log(paint('dim', `  and ${thousands(found.length - limit)} more`));
}
