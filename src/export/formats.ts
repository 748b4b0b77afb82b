/** All formats of `skein export`, by name. */
import { SkeinError } from '../base/errors.ts';
import { contentFormats, rows } from './contents.ts';
import { copyFormats } from './copies.ts';
import type { Exporter } from './exporter.ts';
import { found } from './found.ts';

export const exporters: readonly Exporter[] = [...copyFormats, ...contentFormats, found];
const names = exporters.map(({ name }) => name).join(', ');

export { names as formatNames };

export function exporterOf(name: string): Exporter {
  const found = exporters.find(each => each.name === name);
  if (found) return found;
  throw new SkeinError('bad-option', `There is no format "${name}".`, `Choose one of ${names}.`);
}

/** What a peer writes for another: the same, and rows for those formats of which one file cannot follow another. */
export function peerExporterOf(name: string): Exporter {
  return name === rows.name ? rows : exporterOf(name);
}
