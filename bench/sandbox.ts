/**
 * What does the cage cost? The threads of one outpost crawl a site of recorded pages on loopback and pack what they find
 * for the way home; then the same with a decider asked about every page, in WebAssembly and in JavaScript (each in a
 * process behind bubblewrap), that wants only the facts, or the whole body.
 *
 *   node bench/sandbox.ts
 *
 * The site is served by a process of its own. Rounds alternate, and medians are compared; beside the time by the clock
 * stands the processor time of the outpost's process and of its cages, which says more on a machine that has other work.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Errand } from '../src/errand/errand.ts';
import { OWN_MACHINE } from '../src/outpost/owner/ceilings.ts';
import { Meter } from '../src/outpost/owner/meter.ts';
import { WorkerPool } from '../src/outpost/workers/worker-pool.ts';
import type { WorkerParcel } from '../src/outpost/workers/worker-thread.ts';
import { packErrand } from '../src/transfer/wire/parcel-format.ts';
import { plainErrand, plainPage } from '../test/errand/plain-errand.ts';
import { entriesOf, openBlobs } from './histories.ts';

const ROUNDS = 5;
const PAGES = 600;
const CONNECTIONS = 8;
const WANTED = 0.7;
/** Process of the site. */
let site = 0;

/** Modules whose decide() keeps and follows: what is measured is the way there and back. Memory: 32 pages, 64 at most. */
const wasm = (wants: string) => {
  const exported = wants === '' ? '071b03' : `07${(0x1b + wants.length + 3).toString(16)}04`;
  const wanted = wants === '' ? '' : `0${wants.length}${Buffer.from(wants).toString('hex')}0000`;
  return Buffer.from(
    `0061736d01000000010c0260017f017f60027f7f017f0303020001050401012040${exported}066d656d6f7279020005696e7075` +
      `740000066465636964650001${wanted}0a0c02040041000b05004180060b`,
    'hex',
  );
};
const scriptFacts = 'export default ({ links }) => ({ keep: links >= 0 })';
const scriptBody = `export const wants = 'body';
export default ({ body }) => { let sum = 0; for (let i = 0; i < body.length; i += 64) sum += body[i]; return { keep: sum >= 0 } }`;

/** The site: compressed pages, by number. */
function serve(): void {
  const blob = openBlobs();
  const pages = entriesOf(0).filter(({ ct }) => ct.startsWith('text/html'));
  const bodies = pages.slice(0, PAGES).map(({ b }) => gzipSync(blob(b), { level: 6 }));
  const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
  const server = createServer((request, response) => {
    const number = Number(/^\/(\d+)/.exec(request.url!)?.[1] ?? -1);
    const body = bodies[number % bodies.length];
    response.writeHead(body ? 200 : 404, body ? { ...headers, 'content-length': body.length } : {}).end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}

function errandOf(id: string, origin: string, code: Uint8Array | undefined): Errand {
  return plainErrand(id, origin, {
    kind: 'explore',
    server: { connections: CONNECTIONS, allowPrivate: true, missing: new Uint8Array() },
    pages: Array.from({ length: PAGES }, (_, i) => plainPage(`${origin}/${i}`)),
    ...(code && { code: hash('sha256', code) }),
  });
}

interface Round {
  /** Milliseconds a page: by the clock, and of the processor. */
  readonly time: number;
  readonly processor: number;
}

interface Outpost {
  run(code: Uint8Array | undefined): Promise<Round>;
  close(): Promise<void>;
}

/** Milliseconds, of this process and of all below it but the site. */
function processorTime(): number {
  const all = new Map<number, { parent: number; ticks: number }>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const words = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      all.set(pid, { parent: Number(words[1]), ticks: Number(words[11]) + Number(words[12]) });
    } catch {
      // it has ended meanwhile
    }
  }
  const isOurs = (pid: number): boolean =>
    pid === process.pid || (pid > 1 && pid !== site && isOurs(all.get(pid)?.parent ?? 0));
  const ticks = [...all].reduce((sum, [pid, each]) => sum + (isOurs(pid) ? each.ticks : 0), 0);
  return ticks * 10;
}

function openOutpost(origin: string): Outpost {
  const directory = mkdtempSync(join(tmpdir(), 'skein-sandbox-bench-'));
  let arrived: (parcel: WorkerParcel) => void = () => {};
  let failed: (why: string) => void = () => {};
  const hands = new WorkerPool(
    1,
    {
      userAgent: 'Skein (bench)',
      agentToken: 'skein',
      ceilings: OWN_MACHINE,
      meter: new Meter().shared,
      trustRobots: true,
      sandbox: { own: false },
      cache: { directory, bytes: 1 << 28 },
    },
    { parcel: parcel => arrived(parcel), failed: (_, why) => failed(why), trouble: text => failed(text) },
  );
  let rounds = 0;
  return {
    async run(code) {
      const errand = errandOf(`round-${rounds++}`, origin, code);
      const started = performance.now();
      const before = processorTime();
      let visits = 0;
      await new Promise<void>((resolve, reject) => {
        failed = why => reject(new Error(why));
        arrived = parcel => {
          visits += parcel.visits - parcel.errors;
          if (parcel.done) resolve();
        };
        hands.send(errand, packErrand(errand), code);
      });
      if (visits !== PAGES) throw new Error(`${visits} pages came`);
      return { time: (performance.now() - started) / visits, processor: (processorTime() - before) / visits };
    },
    async close() {
      await hands.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function main(): Promise<void> {
  if (!existsSync(new URL('../../shared/data/dev', import.meta.url))) {
    console.log('skipped: no recorded sites');
    return;
  }
  const server: ChildProcess = fork(new URL(import.meta.url), ['serve']);
  site = server.pid!;
  const port = await new Promise(resolve => server.once('message', resolve));
  const outpost = openOutpost(`http://127.0.0.1:${port}`);
  const ways: [string, Uint8Array | undefined][] = [
    ['no decider', undefined],
    ['WebAssembly, facts', wasm('')],
    ['WebAssembly, body', wasm('body')],
  ];
  if (existsSync('/usr/bin/bwrap')) {
    ways.push(['JavaScript, facts', Buffer.from(scriptFacts)], ['JavaScript, body', Buffer.from(scriptBody)]);
  } else console.log('JavaScript is left out: bubblewrap is not installed');
  try {
    const rounds = new Map<string, Round[]>(ways.map(([name]) => [name, []]));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, code] of ways) {
        const measured = await outpost.run(code);
        if (round > 0) rounds.get(name)!.push(measured); // the first round warms up
      }
    }
    report(rounds);
  } finally {
    await outpost.close();
    server.disconnect();
  }
}

function report(rounds: ReadonlyMap<string, readonly Round[]>): void {
  const median = (name: string, of: keyof Round) =>
    rounds
      .get(name)!
      .map(round => round[of])
      .sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  const share = (name: string, of: keyof Round) => median('no decider', of) / median(name, of);
  for (const name of rounds.keys()) {
    const rate = (1000 / median(name, 'time')).toFixed(0);
    const [clock, processor] = [share(name, 'time'), share(name, 'processor')];
    const verdict = name === 'no decider' ? '' : `, at least ${WANTED} wanted (${clock >= WANTED ? 'met' : 'missed'})`;
    console.log(
      `sandbox, ${name}: ${rate} pages/s, ${clock.toFixed(2)} of the same without${verdict}; ` +
        `${processor.toFixed(2)} by processor time`,
    );
  }
}

if (process.argv[2] === 'serve') serve();
else await main();
