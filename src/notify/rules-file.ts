/** The rules of a collection: notify/rules.json in its directory, private because channels hold passwords. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { hasRules, notifyDirectory, rulesFile } from './place.ts';
import { type Rule, ruleOf } from './rule.ts';

const MOST_RULES = 1000;

export function readRules(data: string): Rule[] {
  if (!hasRules(data)) return [];
  let rules: unknown;
  try {
    rules = JSON.parse(readFileSync(rulesFile(data), 'utf8'));
  } catch {
    throw new SkeinError('damaged', `${rulesFile(data)} is not JSON.`, 'Fix it, or delete it and add the rules again.');
  }
  if (!Array.isArray(rules)) throw new SkeinError('damaged', `${rulesFile(data)} must hold a list of rules.`);
  return rules.slice(0, MOST_RULES).map(ruleOf);
}

export function addRule(data: string, rule: Rule): void {
  const rules = readRules(data);
  if (rules.some(({ name }) => name === rule.name))
    throw new SkeinError(
      'bad-option',
      `A rule named ${rule.name} already exists.`,
      `Remove it first, or choose another name.`,
    );
  if (rules.length >= MOST_RULES) throw new SkeinError('refused', `There are ${MOST_RULES} rules already.`);
  writeRules(data, [...rules, rule]);
}

/** Names of rules that came from a config file, so that they go when it no longer has them. */
const configuredFile = (data: string) => join(notifyDirectory(data), 'configured.json');

/** Makes these the rules that come from a config file, beside those that were added; returns whether any differs. */
export function setConfigured(data: string, rules: readonly Rule[]): boolean {
  const file = configuredFile(data);
  const names = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : [];
  const all = readRules(data);
  const added = all.filter(({ name }) => !names.includes(name));
  const next = [...added, ...rules];
  const twice = next.find(({ name }, i) => next.findIndex(rule => rule.name === name) !== i);
  if (twice) throw new SkeinError('bad-config', `There are two rules ${twice.name}.`, 'Rename or remove one of them.');
  if (next.length > MOST_RULES) throw new SkeinError('refused', `More than ${MOST_RULES} rules are too many.`);
  if (JSON.stringify(next) === JSON.stringify(all)) return false;
  mkdirSync(notifyDirectory(data), { recursive: true, mode: 0o700 });
  // Both old and new names first: a kill in between leaves no rule that nobody would take away.
  const now = rules.map(({ name }) => name);
  replaceFile(file, JSON.stringify([...new Set([...names, ...now])]), PRIVATE);
  writeRules(data, next);
  for (const name of names)
    if (!now.includes(name)) rmSync(join(notifyDirectory(data), name), { recursive: true, force: true });
  replaceFile(file, JSON.stringify(now), PRIVATE);
  return true;
}

/** What waits to be told by it is dropped with it. */
export function removeRule(data: string, name: string): void {
  const rules = readRules(data);
  if (!rules.some(rule => rule.name === name)) throw noRule(name);
  writeRules(
    data,
    rules.filter(rule => rule.name !== name),
  );
  rmSync(join(notifyDirectory(data), name), { recursive: true, force: true });
}

export function ruleNamed(data: string, name: string): Rule {
  const rule = readRules(data).find(each => each.name === name);
  if (!rule) throw noRule(name);
  return rule;
}

function noRule(name: string): SkeinError {
  return new SkeinError('not-found', `There is no rule ${name}.`, '"skein notify list" shows all rules.');
}

function writeRules(data: string, rules: readonly Rule[]): void {
  mkdirSync(notifyDirectory(data), { recursive: true, mode: 0o700 });
  replaceFile(rulesFile(data), `${JSON.stringify(rules, null, 1)}\n`, PRIVATE);
}
