/** `skein serve`: a public search over a collection, apart from the workbench. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { askCollection } from '../../engine/open-collection.ts';
import { feedWhileIdle } from '../../home/indexing/indexing.ts';
import { languagesQuestion } from '../../questions/search/parts.ts';
import { openServe } from '../../serve/serve.ts';
import { readPins, readSynonyms } from '../../serve/wishes.ts';
import { parseListen, readTls } from '../options/listen.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { paint } from '../print/terminal.ts';
import { nextSignal } from '../signals.ts';

const PORT = 7710;
const RATE = 10;

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .option('--listen <address>', `host:port or port (default 127.0.0.1:${PORT})`)
    .option('--origin <urls...>', 'sites whose pages may query from a browser, as https://docs.example.org; * = all')
    .option('--synonyms <file>', 'JSON file of synonyms: [["database", "db"], ["sign in", "log in"]]')
    .option('--pinned <file>', 'JSON file of pinned results: {"install": ["https://example.org/install.html"]}')
    .option('--rate <n>', `requests a second for each client (default ${RATE}; four times as many at once)`)
    .option('--behind-proxy', 'identify clients by the last address in X-Forwarded-For')
    .option('--certificate <file>', 'TLS certificate chain, PEM')
    .option('--key <file>', 'its private key, PEM')
    .option('--json', 'print one JSON object with the address')
    .addHelpText(
      'after',
      `
Read-only: search, suggestions and the search box. It cannot steer a crawl, and
it hides pages that ask not to be shown. Put the box on a page with
  <script type="module" src="http://127.0.0.1:${PORT}/widget.js"></script>
  <skein-search></skein-search>

Examples:
  skein serve --data ./skein-data
  skein serve --listen 0.0.0.0:443 --certificate chain.pem --key key.pem
  skein serve --origin https://docs.example.org --synonyms words.json`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const collection = askCollection(data); // says in words when there is nothing to show
    const { host, port } = parseListen(String(given['listen'] ?? PORT));
    const tls = readTls(given['certificate'] as string | undefined, given['key'] as string | undefined);
    const rate = rateOf(given['rate']);
    const options = {
      ...{ host, port, ...(tls && { tls }), limit: { rate, burst: rate * 4 } },
      origins: originsOf((given['origin'] as string[] | undefined) ?? []),
      behindProxy: given['behindProxy'] === true,
      synonyms: given['synonyms'] === undefined ? new Map() : readSynonyms(String(given['synonyms'])),
      pins: given['pinned'] === undefined ? new Map() : readPins(String(given['pinned'])),
    };
    await collection.ask(languagesQuestion, {}); // brings the indexes up to date
    const directories = collection.here.map(({ directory }) => directory);
    const served = await openServe(options, collection);
    const feeding = await feedWhileIdle(data, directories);
    const stopped = nextSignal();
    if (given['json']) printJson({ address: served.address, port: served.port });
    else console.log(`${paint('bold', 'Search:')} ${served.address}\nStop it with Ctrl-C.`);
    await stopped;
    await feeding.stop();
    await served.close();
  });
}

function rateOf(text: unknown): number {
  const rate = text === undefined ? RATE : Number(text);
  if (Number.isFinite(rate) && rate > 0 && rate <= 100_000) return rate;
  throw new SkeinError('bad-option', '--rate takes a number of requests a second, above 0.');
}

function originsOf(texts: readonly string[]): string[] {
  return texts.map(text => {
    if (text === '*') return text;
    const url = URL.parse(text);
    if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url.origin;
    throw new SkeinError(
      'bad-option',
      `"${text}" is not the origin of a site.`,
      'Write it as https://docs.example.org.',
    );
  });
}
