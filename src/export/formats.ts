/** All formats of `skein export`, by name. */
import { SkeinError } from '../base/errors.ts';
import { contentFormats } from './contents.ts';
import { copyFormats } from './copies.ts';
import type { Exporter } from './exporter.ts';

export const exporters: readonly Exporter[] = [...copyFormats, ...contentFormats];
const names = exporters.map(({ name }) => name).join(', ');

export { names as formatNames };

export function exporterOf(name: string): Exporter {
  const found = exporters.find(each => each.name === name);
  if (found) return found;
  throw new SkeinError('bad-option', `There is no format "${name}".`, `Choose one of ${names}.`);
}
