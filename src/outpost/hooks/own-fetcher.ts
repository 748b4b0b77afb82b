/**
 * A fetcher of this machine's own user, loaded into a fetching thread. What it throws costs the page at hand, and is told
 * once with the page and the line; one that does not load ends the crawl with what is wrong with it.
 */
import { SkeinError } from '../../base/errors.ts';
import type { Answer, Ask, Fetcher } from '../../crawler/stages.ts';
import { inWords } from './own-hooks.ts';

interface NamedFetcher {
  /** A file URL. */
  readonly module: string;
  readonly options: unknown;
}

const MOST_SAID = 20;
const calls = ['fetch', 'release', 'close'] as const;

/** Throws what is wrong with it; `say` hears of failures later, a sentence each. */
export async function loadFetcher({ module, options }: NamedFetcher, say: (text: string) => void): Promise<Fetcher> {
  const refuse = (why: string) => new SkeinError('refused', `The fetcher ${why}.`);
  let made: Fetcher;
  try {
    const { makeFetcher } = (await import(module)) as { makeFetcher?: (options: unknown) => Fetcher };
    if (typeof makeFetcher !== 'function') throw refuse('cannot be used: its module exports no makeFetcher');
    made = makeFetcher(options);
  } catch (error) {
    throw error instanceof SkeinError ? error : refuse(`does not load: ${inWords(error, module)}`);
  }
  const missing = calls.find(name => typeof made?.[name] !== 'function');
  if (missing) throw refuse(`cannot be used: what makeFetcher returns has no ${missing}()`);
  return guarded(made, module, say);
}

function guarded(made: Fetcher, module: string, say: (text: string) => void): Fetcher {
  const said = new Set<string>();
  return {
    async fetch(ask: Ask): Promise<Answer> {
      try {
        const answer = await made.fetch(ask);
        if (answer?.kind === 'response' || answer?.kind === 'failure') return answer;
        throw new Error('fetch() gave no answer: { kind: "response", … } or { kind: "failure", … }');
      } catch (error) {
        const why = inWords(error, module);
        if (!said.has(why) && said.size < MOST_SAID) {
          said.add(why);
          say(`The fetcher failed on ${ask.url}: ${why}.`);
        }
        return { kind: 'failure', reason: 'bad-answer', detail: why, wire: { up: 0, down: 0, firstByte: 0, total: 0 } };
      }
    },
    ...(made.locate && { locate: origin => made.locate!(origin) }),
    ...(made.reuse && { reuse: body => made.reuse!(body) }),
    release: origin => made.release(origin),
    close: () => made.close(),
  };
}
