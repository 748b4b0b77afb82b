/** The search box for any page, as one script. It is served as it was written: nothing is built. */
import { readFileSync } from 'node:fs';

let script: string | undefined;

export function widget(): string {
  script ??= readFileSync(new URL('./skein-search.js', import.meta.url), 'utf8');
  return script;
}
