/** `skein site`: what the owner of a site runs beside the web server, so that crawlers are told instead of asking. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import type { SiteOptions } from '../../site/options.ts';
import type { SiteStatus } from '../../site/site.ts';
import { parseListen } from '../options/listen.ts';
import { parseSize } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { duration, harmless, moment, paint, plural, size, table } from '../print/terminal.ts';
import { nextSignal } from '../signals.ts';

const LISTEN = '127.0.0.1:7800';
const DIRECTORY = 'skein-site';

export function addSiteCommand(program: Command): void {
  const command = program
    .command('site')
    .argument('[directory]', 'folder that the web server serves')
    .option('--public <url>', 'public URL of the site')
    .option('--listen <address>', `host:port or port (default ${LISTEN})`, LISTEN)
    .option('--upstream <url>', 'web server on this machine that generates the pages, e.g. http://127.0.0.1:8080')
    .option('--front', 'act as a reverse proxy before that server')
    .option('--records <file>', 'JSON file that describes databases and media to announce as documents')
    .option(
      '--allow <list>',
      'what may be announced, e.g. "/docs/**,!/docs/old/**" (default: all that robots.txt allows)',
    )
    .option('--clean-urls', '/about instead of /about.html')
    .option('--data <dir>', `directory of the journal (default ./${DIRECTORY})`, DIRECTORY)
    .option('--every <seconds>', 'seconds between full scans (default 60 for files, 600 for a web server)')
    .option('--token-file <file>', 'file with the token that readers must send (default: anyone may read)')
    .option('--certificate <file>', 'TLS certificate chain, PEM')
    .option('--key <file>', 'its private key, PEM')
    .option('--client-ca <file>', 'CA certificate; readers need a certificate signed by it, PEM')
    .option('--hub <list>', 'WebSub hubs to notify of changes; "own" runs a small one here')
    .option('--indexnow <list>', 'IndexNow endpoints to notify of changes')
    .option('--terms', 'accept search terms from crawlers and suggest them to visitors; needs a token')
    .option('--search <url>', 'URL of a skein serve; the search box of the site queries it')
    .option('--requests-a-minute <n>', 'most requests a minute of one reader (default 120)')
    .option('--keep-versions <size>', 'bytes of older versions to keep for deltas (default 1GB)')
    .option('--allow-private', 'hubs and subscribers may be at private addresses')
    .option('--json', 'print one JSON object with the address')
    .addHelpText('after', EXAMPLES)
    .action(run);
  command
    .command('status')
    .description('show what a site announces and to whom: pages, changes, sources, subscribers')
    .option('--data <dir>', `directory of its journal (default ./${DIRECTORY})`, DIRECTORY)
    .option('--json', 'print one JSON object')
    .action((_given: unknown, called: Command) => status(called.optsWithGlobals()));
}

const BOX =
  '<script type="module" src="/.well-known/skein/widget.js"></script> <skein-search label="Search"></skein-search>';

const EXAMPLES = `
Examples:
  skein site /var/www/html --public https://example.org
  skein site --upstream http://127.0.0.1:8080 --public https://example.org
  skein site --records records.json --public https://example.org
  skein site status`;

type SiteCommandOptions = Record<string, string | boolean | undefined>;

async function run(directory: string | undefined, given: SiteCommandOptions): Promise<void> {
  const { listen } = await import('../../site/listener.ts');
  const { openSite } = await import('../../site/site.ts');
  const address = parseListen(String(given['listen']));
  const tls = tlsOf(given);
  const options = optionsOf(directory, given, tls?.clientCa !== undefined);
  if (given['front'] && options.upstream === undefined) {
    throw new SkeinError('bad-option', '--front needs --upstream, the web server behind the proxy.');
  }
  const { site, close } = await openSite(options);
  const stopped = nextSignal();
  try {
    const front = given['front'] ? options.upstream : undefined;
    // Before the inventory: whoever asks meanwhile is told to come again.
    const server = await listen(site, { ...address, tls, front });
    try {
      const began = Date.now();
      const ready = site.start();
      const ended = await Promise.race([ready.then(() => false), stopped.then(() => true), progress(ready)]);
      if (!ended) announce(site.status(), { given, port: server.port, host: server.host, took: Date.now() - began });
      await stopped;
    } finally {
      await server.close();
    }
  } finally {
    await close();
  }
}

/** Says every two seconds that the first inventory goes on. Never resolves. */
function progress(ready: Promise<void>): Promise<never> {
  const began = Date.now();
  const timer = setInterval(() => console.error(`Reading the pages, ${duration(Date.now() - began)} …`), 2000);
  const end = (): void => clearInterval(timer);
  ready.then(end, end);
  return new Promise(() => {});
}

interface Started {
  readonly given: SiteCommandOptions;
  readonly host: string;
  readonly port: number;
  readonly took: number;
}

function announce(state: SiteStatus, { given, host, port, took }: Started): void {
  const at = `${given['certificate'] ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (given['json']) {
    printJson({ address: at, port, public: state.public, pages: state.pages, cursor: state.cursor });
    return;
  }
  console.log(`${paint('bold', state.public)}: ${plural(state.pages, 'page')}, read in ${duration(took)}.`);
  for (const { name, problem } of state.sources) if (problem !== '') console.log(`${name}: ${harmless(problem)}`);
  console.log(`It announces changes at ${at}/.well-known/skein. Stop with Ctrl-C.`);
  if (!given['front']) console.log(`\nForward these paths from the web server; for nginx:\n${nginx(at, state)}`);
  if (given['search']) console.log(`\nFor pages with the search box:\n  ${BOX}`);
  console.log(`\nFor robots.txt:\n  Sitemap: ${new URL('/.well-known/skein/sitemap.xml', state.public).href}`);
}

function nginx(at: string, { indexNowKey }: SiteStatus): string {
  const pass = `proxy_pass ${at}; proxy_set_header X-Forwarded-For $remote_addr; proxy_read_timeout 150s;`;
  return ['/.well-known/skein', '= /.well-known/resourcesync', `= /${indexNowKey}.txt`]
    .map(place => `  location ${place} { ${pass} }`)
    .join('\n');
}

function optionsOf(directory: string | undefined, given: SiteCommandOptions, certificate: boolean): SiteOptions {
  const text = (name: string): string | undefined => given[name] as string | undefined;
  const number = (name: string): number | undefined =>
    text(name) === undefined ? undefined : whole(text(name)!, name);
  const list = (name: string): string[] => listOf(text(name));
  if (text('public') === undefined) {
    throw new SkeinError('bad-option', 'The public URL of the site is missing.', 'Give --public https://example.org.');
  }
  const token = text('tokenFile') === undefined ? undefined : readText(text('tokenFile')!).trim();
  const terms = given['terms'] === true;
  if (terms && token === undefined && !certificate) {
    throw new SkeinError(
      'bad-option',
      '--terms needs a token; without one, anyone could send terms.',
      'Give --token-file.',
    );
  }
  return {
    public: text('public')!,
    directory,
    cleanUrls: given['cleanUrls'] === true,
    upstream: text('upstream'),
    records: text('records'),
    data: text('data'),
    allow: list('allow'),
    token,
    certificate,
    hubs: list('hub'),
    indexNow: list('indexnow'),
    terms,
    search: text('search'),
    requestsAMinute: number('requestsAMinute'),
    every: number('every'),
    keepBytes: text('keepVersions') === undefined ? undefined : parseSize(text('keepVersions')!),
    allowPrivate: given['allowPrivate'] === true,
    say: words => console.error(`${new Date().toISOString()} ${harmless(words)}`),
  };
}

function tlsOf(given: SiteCommandOptions): { certificate: string; key: string; clientCa?: string } | undefined {
  const [certificate, key, ca] = ['certificate', 'key', 'clientCa'].map(name => given[name] as string | undefined);
  if (certificate === undefined && key === undefined && ca === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    throw new SkeinError('bad-option', 'TLS needs both --certificate and --key.');
  }
  const files = { certificate: readText(certificate), key: readText(key) };
  return ca === undefined ? files : { ...files, clientCa: readText(ca) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkeinError('bad-option', `${file} cannot be read: ${systemWords(error)}.`);
  }
}

function whole(text: string, name: string): number {
  const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new SkeinError('bad-option', `${flag} takes a whole number from 1, not "${text}".`);
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '');
}

async function status(given: SiteCommandOptions): Promise<void> {
  const directory = resolve(String(given['data']));
  const { ask } = await import('../../site/journal/lock.ts');
  const { held, status: told } = await ask(directory);
  const state = (told ?? (held ? undefined : await fromDisk(directory))) as SiteStatus | undefined;
  if (state === undefined) throw new SkeinError('data-in-use', `The site in ${directory} is busy.`, 'Ask again later.');
  if (given['json']) printJson({ running: held, ...state, changed: state.changed || null });
  else show(state, held);
}

/** Nobody runs it: what its journal says. */
async function fromDisk(directory: string): Promise<SiteStatus> {
  if (!existsSync(join(directory, 'journal'))) {
    throw new SkeinError('not-found', `There is no site in ${directory}.`, 'Name its directory with --data.');
  }
  const { readStatus } = await import('../../site/site.ts');
  return readStatus(directory);
}

function show(state: SiteStatus, running: boolean): void {
  const { pages, unlisted, cursor, first, changed, versions, versionBytes, terms, sources, subscribers, told } = state;
  console.log(paint('bold', `${state.public || 'Site'}: ${running ? 'running' : 'not running'}`));
  const last = changed === 0 ? 'none yet' : moment(changed);
  console.log(
    `${plural(pages, 'page')}${unlisted > 0 ? `, ${unlisted} of them in no list` : ''}; last change ${last}; cursor ${cursor}, changes are kept from number ${first + 1}.`,
  );
  console.log(`${plural(versions, 'version')} stored for deltas, ${size(versionBytes)}.`);
  if (terms > 0) console.log(`${plural(terms, 'search term')} received from homes.`);
  if (sources.length > 0) {
    const rows = sources.map(each => [
      each.name,
      each.pages,
      each.time === 0 ? '–' : moment(each.time),
      harmless(each.problem),
    ]);
    console.log(`\n${table(['source', 'pages', 'looked at', 'trouble'], rows)}`);
  }
  if (told.length > 0) {
    const rows = told.map(each => [each.kind, each.url, each.behind, harmless(each.problem)]);
    console.log(`\n${table(['told', 'where', 'behind', 'trouble'], rows)}`);
  }
  if (subscribers.length > 0) {
    const rows = subscribers.map(each => [
      ...[harmless(each.url), moment(each.expires), each.behind, harmless(each.problem)],
    ]);
    console.log(`\n${table(['subscriber', 'until', 'behind', 'trouble'], rows)}`);
  }
}
