import { readFileSync } from 'node:fs';

/** From package.json, the one place that has it. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
