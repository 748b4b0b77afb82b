/**
 * Hooks of this machine's own user, loaded into a fetching thread. They run as part of the thread: what they throw costs
 * the page at hand, and is told once with the page and the line; code that fails again and again ends the crawl.
 */
import { SkeinError } from '../../base/errors.ts';
import type { Decider, PageQuestion, PageVerdict } from '../../crawler/decider.ts';
import type { HookRequest, Hooks, RequestHook, RequestTerms } from '../../crawler/hooks.ts';
import { termsOf, verdictOf } from './wishes.ts';

/** Failures in a row after which it is given up, milliseconds that a promise of a hook may take, sentences that are told. */
const LIVES = 20;
const PATIENCE = 30_000;
const MOST_SAID = 20;
/** Loads the module and looks at its shape; throws what is wrong with it. */
export async function loadHooks(module: string): Promise<Hooks> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(module)) as typeof loaded;
  } catch (error) {
    throw new SkeinError('refused', `The hooks do not load: ${inWords(error, module)}.`);
  }
  const hooks = loaded.default as Record<string, unknown> | undefined;
  const names = ['beforeRequest', 'afterPage'];
  const odd = hooks && Object.keys(hooks).find(name => !names.includes(name));
  const isHooks = typeof hooks === 'object' && hooks !== null && !odd;
  if (isHooks && names.some(name => typeof hooks[name] === 'function')) return hooks as Hooks;
  const what = odd ? `there is no hook "${odd}"` : 'its default export has neither beforeRequest nor afterPage';
  throw new SkeinError('refused', `The hooks cannot be used: ${what}.`);
}

export class OwnHooks implements Decider, RequestHook {
  readonly wants = 'page';
  over = '';
  readonly #hooks: Hooks;
  readonly #module: string;
  readonly #say: (text: string) => void;
  readonly #said = new Set<string>();
  #failures = 0;

  /** `say` hears of failures, a sentence each. */
  constructor(hooks: Hooks, module: string, say: (text: string) => void) {
    this.#hooks = hooks;
    this.#module = module;
    this.#say = say;
  }

  get asksBefore(): boolean {
    return this.#hooks.beforeRequest !== undefined;
  }

  get asksAfter(): boolean {
    return this.#hooks.afterPage !== undefined;
  }

  before(request: HookRequest): RequestTerms | undefined | Promise<RequestTerms | undefined> {
    return this.#run('beforeRequest', request.url, () => this.#hooks.beforeRequest!(request), termsOf);
  }

  async decide({ url, page }: PageQuestion): Promise<PageVerdict> {
    let open = true;
    // Its memory holds another page as soon as this one is done with.
    const guarded = { ...page! };
    for (const name of ['text', 'html', 'body', 'links'] as const) {
      guarded[name] = (() => {
        if (!open) throw new Error(`${name}() was called after the hook had answered`);
        return page![name]();
      }) as never;
    }
    try {
      return await this.#run('afterPage', url, () => this.#hooks.afterPage!(guarded), verdictOf);
    } finally {
      open = false;
    }
  }

  /** Runs a hook and reads what it says; a promise only where the hook gives one. */
  #run<W, T>(name: string, url: string, call: () => W, read: (wish: Awaited<W>) => T): T | Promise<T> {
    try {
      const made = call();
      if (!(made instanceof Promise)) return this.#done(read(made as Awaited<W>));
      return inTime(made).then(
        wish => {
          try {
            return this.#done(read(wish as Awaited<W>));
          } catch (error) {
            throw this.#failed(name, url, error);
          }
        },
        error => {
          throw this.#failed(name, url, error);
        },
      );
    } catch (error) {
      throw this.#failed(name, url, error);
    }
  }

  #done<T>(result: T): T {
    this.#failures = 0;
    return result;
  }

  #failed(name: string, url: string, error: unknown): unknown {
    const why = inWords(error, this.#module);
    if (++this.#failures >= LIVES) this.over ||= `${name} failed ${LIVES} times in a row, at last: ${why}`;
    if (!this.#said.has(why) && this.#said.size < MOST_SAID) {
      this.#said.add(why);
      this.#say(`The hook ${name} failed on ${url}: ${why}. The page is tried again later.`);
    }
    return error;
  }
}

async function inTime<T>(made: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(new Error(`it took longer than ${PATIENCE / 1000} seconds`)), PATIENCE);
  try {
    return await Promise.race([made, promise]);
  } finally {
    clearTimeout(late);
  }
}

/** What was thrown, and the line of the module that it came from. */
export function inWords(error: unknown, module: string): string {
  const text =
    error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : `${error}`;
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${module}:`);
  const line = at < 0 ? '' : (/^\d+:\d+/.exec(stack.slice(at + module.length + 1))?.[0] ?? '');
  const file = decodeURIComponent(module.slice(module.lastIndexOf('/') + 1));
  return `${text.split('\n')[0]!.slice(0, 300)}${line && ` (${file}:${line})`}`;
}
