/** The rules of a collection: notify/rules.json in its directory, private because channels hold passwords. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { PRIVATE, replaceFile } from '../base/file.ts';
import { type Rule, ruleOf } from './rule.ts';

const MOST_RULES = 1000;

export const notifyDirectory = (data: string) => join(data, 'notify');
const fileOf = (data: string) => join(notifyDirectory(data), 'rules.json');

export function hasRules(data: string): boolean {
  return existsSync(fileOf(data));
}

export function readRules(data: string): Rule[] {
  if (!hasRules(data)) return [];
  let rules: unknown;
  try {
    rules = JSON.parse(readFileSync(fileOf(data), 'utf8'));
  } catch {
    throw new SkeinError('damaged', `${fileOf(data)} is not JSON.`, 'Mend it, or delete it and add the rules again.');
  }
  if (!Array.isArray(rules)) throw new SkeinError('damaged', `${fileOf(data)} must hold a list of rules.`);
  return rules.slice(0, MOST_RULES).map(ruleOf);
}

export function addRule(data: string, rule: Rule): void {
  const rules = readRules(data);
  if (rules.some(({ name }) => name === rule.name))
    throw new SkeinError(
      'bad-option',
      `There is a rule ${rule.name} already.`,
      `Remove it first, or choose another name.`,
    );
  if (rules.length >= MOST_RULES) throw new SkeinError('refused', `There are ${MOST_RULES} rules already.`);
  writeRules(data, [...rules, rule]);
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
  return new SkeinError('not-found', `There is no rule ${name}.`, '"skein notify list" shows those there are.');
}

function writeRules(data: string, rules: readonly Rule[]): void {
  mkdirSync(notifyDirectory(data), { recursive: true, mode: 0o700 });
  replaceFile(fileOf(data), `${JSON.stringify(rules, null, 1)}\n`, PRIVATE);
}
