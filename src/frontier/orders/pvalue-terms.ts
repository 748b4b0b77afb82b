/** What users may say of the order pvalue: `forward=1,backward=1,aging=0,service=4:2:1,lists=crawl`, each optional. */
import { SkeinError } from '../../base/errors.ts';
import { type PvalueOptions, pvalueDefaults } from './pvalue.ts';

export interface PvalueTerms extends Pick<PvalueOptions, 'forwardWeight' | 'backwardWeight' | 'aging' | 'service'> {
  /** Whose pages the three lists hold: all servers', as the paper has it, or each server's own. */
  readonly lists: 'crawl' | 'server';
}

export const pvalueTerms: PvalueTerms = { ...pvalueDefaults, lists: 'crawl' };

export function parsePvalue(text: string): PvalueTerms {
  let terms = pvalueTerms;
  for (const part of text.split(',').map(each => each.trim())) {
    if (part === '') continue;
    const [name = '', value = ''] = part.split('=').map(each => each.trim());
    const read = readers[name]?.(value);
    if (read === undefined) throw wrong(part);
    terms = { ...terms, ...read };
  }
  return terms;
}

const readers: Readonly<Record<string, (value: string) => Partial<PvalueTerms> | undefined>> = {
  forward: value => weight(value, forwardWeight => ({ forwardWeight })),
  backward: value => weight(value, backwardWeight => ({ backwardWeight })),
  aging: value => (/^\d{1,9}$/.test(value) ? { aging: Number(value) } : undefined),
  service: value =>
    /^[1-9]\d?:[1-9]\d?:[1-9]\d?$/.test(value) ? { service: value.split(':').map(Number) } : undefined,
  lists: value => (value === 'crawl' || value === 'server' ? { lists: value } : undefined),
};

/** 0 to 100. */
function weight<T>(value: string, make: (weight: number) => T): T | undefined {
  return /^\d{1,3}(\.\d{1,4})?$/.test(value) && Number(value) <= 100 ? make(Number(value)) : undefined;
}

function wrong(part: string): SkeinError {
  return new SkeinError(
    'bad-option',
    `"${part}" is not a term of the order pvalue.`,
    'The terms are forward and backward (weights from 0 to 100), aging (pages), service (as 4:2:1) and lists (crawl or server).',
  );
}
