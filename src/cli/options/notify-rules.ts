/** Rules of who is told of what, from the command line and from the config file (`notify`): the same names in both. */
import { DAY, HOUR } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { Notifier } from '../../notify/notifier.ts';
import { type Rule, ruleOf } from '../../notify/rule.ts';
import { setConfigured } from '../../notify/rules-file.ts';
import { configuredAs } from './options.ts';

type ConfiguredRules = Record<string, unknown>;

/** Makes the rules of the config file the collection's; those that it no longer has go. Without `notify` in it nothing is done. */
export async function keepConfiguredRules(given: ConfiguredRules, data: string): Promise<void> {
  const listed = await configuredAs(given, 'notify');
  if (listed === undefined) return;
  if (!Array.isArray(listed)) throw new SkeinError('bad-config', 'notify in the config file must be a list of rules.');
  if (!setConfigured(data, listed.map(configuredRule))) return;
  using notifier = new HeldNotifier(data);
  await notifier.pass(); // from now on
}

function configuredRule(entry: unknown): Rule {
  if (typeof entry !== 'object' || entry === null)
    throw new SkeinError('bad-config', 'Each rule of notify in the config file must be an object.');
  const given = entry as ConfiguredRules;
  const lists = ['include', 'ignore', 'ignoreText', 'only', 'mail'].filter(name => typeof given[name] === 'string');
  const whole = { ...given, ...Object.fromEntries(lists.map(name => [name, [given[name]]])) };
  const known = [...CONDITIONS, ...CHANNELS];
  const odd = Object.keys(given).find(name => !known.includes(name));
  if (odd) throw new SkeinError('bad-config', `A rule of notify has no "${odd}".`, `It may have ${known.join(', ')}.`);
  return ruleOf({ name: given['name'], ...conditionsOf(whole), channel: channelOf(whole) });
}

const CONDITIONS = [
  'name',
  'url',
  'kinds',
  'include',
  'ignore',
  'ignoreText',
  'only',
  'leastWords',
  'leastShare',
  'atMost',
];
const CHANNELS = ['webhook', 'secret', 'allowPrivate', 'command', 'mail', 'from', 'smtp', 'feed'];

/** A notifier that is closed with its block; a running Skein that tells already does the same by itself. */
export class HeldNotifier {
  readonly #notifier: Notifier | undefined;

  constructor(data: string) {
    try {
      this.#notifier = new Notifier(data);
    } catch (error) {
      if ((error as SkeinError).code !== 'data-in-use') throw error;
    }
  }

  async pass(): Promise<void> {
    await this.#notifier?.pass();
  }

  [Symbol.dispose](): void {
    this.#notifier?.close();
  }
}

export function conditionsOf(given: ConfiguredRules): object {
  const share = given['leastShare'];
  return {
    ...(given['url'] !== undefined && { url: given['url'] }),
    ...(given['kinds'] !== undefined && { kinds: String(given['kinds']).split(/[\s,]+/) }),
    ...Object.fromEntries(
      ['include', 'ignore', 'ignoreText', 'only'].filter(key => given[key] !== undefined).map(key => [key, given[key]]),
    ),
    ...(given['leastWords'] !== undefined && { leastWords: Number(given['leastWords']) }),
    ...(share !== undefined && { leastShare: shareOf(String(share)) }),
    ...(given['atMost'] !== undefined && { atMost: spanOf(String(given['atMost'])) }),
  };
}

function shareOf(text: string): number {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text);
  return percent ? Number(percent[1]) / 100 : Number(text);
}

/** Milliseconds. */
function spanOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(m|h|d)$/.exec(text.trim());
  if (!match) throw new SkeinError('bad-option', `--at-most cannot be "${text}".`, 'Write 10m, 6h or 1d.');
  return Number(match[1]) * { m: 60_000, h: HOUR, d: DAY }[match[2] as 'm' | 'h' | 'd'];
}

export function channelOf(given: ConfiguredRules): object {
  const ways = ['webhook', 'command', 'mail', 'feed'].filter(way => given[way] !== undefined);
  if (ways.length !== 1) {
    throw new SkeinError(
      'bad-option',
      'A rule has exactly one channel.',
      'Give one of --webhook, --command, --mail and --feed.',
    );
  }
  const secret = given['secret'] ?? process.env['SKEIN_SECRET'];
  const server = given['smtp'] ?? process.env['SKEIN_SMTP'];
  if (ways[0] === 'mail' && (server === undefined || given['from'] === undefined))
    throw new SkeinError('bad-option', 'Mail needs --smtp and --from.', 'For example --smtp smtp://localhost.');
  const open = given['allowPrivate'] === true && { allowPrivate: true };
  if (ways[0] === 'webhook')
    return { kind: 'webhook', url: given['webhook'], ...(secret !== undefined && { secret }), ...open };
  if (ways[0] === 'command') return { kind: 'command', command: given['command'] };
  if (ways[0] === 'mail') return { kind: 'mail', to: given['mail'], from: given['from'], server };
  return { kind: 'feed', ...(given['feed'] !== true && { file: given['feed'] }) };
}
