/** Where a collection keeps its rules. Every run looks whether there are any: this file loads nothing that reads them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const notifyDirectory = (data: string) => join(data, 'notify');
export const rulesFile = (data: string) => join(notifyDirectory(data), 'rules.json');

export function hasRules(data: string): boolean {
  return existsSync(rulesFile(data));
}
