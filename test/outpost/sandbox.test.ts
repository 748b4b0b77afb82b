/** What hostile code would try: each attempt fails, says so in one sentence, and harms nobody. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { PageQuestion } from '../../src/crawler/decider.ts';
import { type CagedDecider, openDecider } from '../../src/outpost/cages/caged-decider.ts';
import { type SandboxLimits, sandboxLimits } from '../../src/outpost/cages/decider.ts';
import { Cages } from '../../src/outpost/cages/process-cage.ts';
import { wasm } from './wasm-module.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-sandbox-'));
after(() => rmSync(directory, { recursive: true }));
const secret = join(directory, 'secret');
writeFileSync(secret, 'the secret');

const page: PageQuestion = {
  url: 'https://geese.example/nests',
  title: 'Geese – 雁',
  language: 'en',
  mediaType: 'text/html',
  ...{ status: 200, depth: 3, bytes: 900, links: 7, words: 120, first: true },
  content: Buffer.from('<p>geese'),
};
const walled = existsSync('/usr/bin/bwrap');
const limits = { ...sandboxLimits, time: 3000 };
const script = (code: string) => new Cages(Buffer.from(code), { limits, own: false });
const wasmCage = (code: Uint8Array, within: SandboxLimits) => new Cages(code, { limits: within, own: false });

interface Opened extends AsyncDisposable {
  readonly decider: CagedDecider;
  readonly troubles: string[];
}

async function open(cages: Cages, time = limits.time): Promise<Opened> {
  const troubles: string[] = [];
  const decider = await openDecider(cages, { time, say: text => troubles.push(text) });
  return { decider, troubles, [Symbol.asyncDispose]: () => decider.close() };
}

/** What the code makes of a page; errors of the sandbox as their sentence. */
async function outcome(cages: Cages): Promise<unknown> {
  try {
    await using opened = await open(cages);
    return await opened.decider.decide(page);
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'refused', String((error as Error).stack));
    return (error as Error).message;
  }
}

const plain = { keep: true, follow: true, relevance: 0 };

describe('JavaScript', { skip: walled ? false : 'bubblewrap is not installed' }, () => {
  test('is shown the facts, and what it wants of the page besides', async () => {
    const shown = `({ body, text, ...rest }) => {
      const wanted = { first: true, status: 200, depth: 3, bytes: 900, links: 7, words: 120,
        url: 'https://geese.example/nests', title: 'Geese – 雁', language: 'en', mediaType: 'text/html' };
      const content = body ? String.fromCharCode(...body) : text;
      return { keep: JSON.stringify(rest) === JSON.stringify(wanted), follow: content === '<p>geese', relevance: 7 };
    }`;
    const right = { keep: true, follow: true, relevance: 7 };
    assert.deepEqual(await outcome(script(`export const wants = 'body'; export default ${shown}`)), right);
    assert.deepEqual(await outcome(script(`export const wants = 'text'; export default ${shown}`)), right);
    assert.deepEqual(await outcome(script('export default () => undefined')), plain);
    assert.deepEqual(await outcome(script('export default async () => ({ follow: false, relevance: 1e9 })')), {
      keep: true,
      follow: false,
      relevance: 255,
    });
  });

  test('answers a hundred pages in their order', async () => {
    await using opened = await open(script('export default ({ depth }) => ({ relevance: depth })'));
    const asked = Array.from({ length: 100 }, (_, depth) => opened.decider.decide({ ...page, depth }));
    assert.deepEqual(
      (await Promise.all(asked)).map(verdict => verdict.relevance),
      asked.map((_, depth) => depth),
    );
  });

  /** An attempt that hides its failure: it is ended and named all the same. */
  const tries = (expression: string) =>
    outcome(script(`export default async () => { try { await (${expression}) } catch {} return { keep: true } }`));

  test('reads no file', async () => {
    const read = (file: string) => `(await import('node:fs')).readFileSync(${JSON.stringify(file)})`;
    assert.match(String(await tries(read(secret))), /may not do: FileSystemRead .*secret/);
    assert.match(String(await tries(read('/etc/passwd'))), /may not do: FileSystemRead/);
  });

  test('writes nowhere', async () => {
    const target = join(directory, 'written');
    const write = `(await import('node:fs')).writeFileSync(${JSON.stringify(target)}, 'x')`;
    assert.match(String(await tries(write)), /may not do: FileSystemWrite/);
    assert.equal(existsSync(target), false);
  });

  test('starts no process and no thread, and ends nobody', async () => {
    const start = `(await import('node:child_process')).execFileSync('/node', ['--version'])`;
    assert.match(String(await tries(start)), /may not do: ChildProcess/);
    const thread = `new ((await import('node:worker_threads')).Worker)('1', { eval: true })`;
    assert.match(String(await tries(thread)), /may not do: WorkerThreads/);
    const kill = `export default () => { process.kill(${process.pid}, 'SIGTERM') }`;
    assert.match(String(await outcome(script(kill))), /ESRCH/);
  });

  test('opens no socket', async () => {
    let knocks = 0;
    const server = createServer(() => knocks++).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const dial = `new Promise((resolve, reject) => import('node:net').then(({ connect }) => connect(${port}, '127.0.0.1').on('connect', resolve).on('error', reject), reject))`;
    assert.match(String(await tries(dial)), /may not do: Net/);
    assert.equal(knocks, 0);
    await new Promise(resolve => server.close(resolve));
  });

  test('sees no environment', async () => {
    const look = 'export default () => ({ keep: process.env.PATH !== undefined || process.env.HOME !== undefined })';
    assert.deepEqual(await outcome(script(look)), { ...plain, keep: false });
  });

  test('that spins or throws costs one page, and is started again for the others', async () => {
    const code = `export default ({ depth }) => { if (depth === 2) for (;;); if (depth === 4) throw new Error('no'); }`;
    await using opened = await open(script(code), 1500);
    const asked = Array.from({ length: 6 }, (_, depth) => opened.decider.decide({ ...page, depth }));
    const settled = await Promise.allSettled(asked);
    assert.deepEqual(
      settled.map(each => each.status === 'fulfilled'),
      [true, true, false, true, false, true],
    );
    assert.match(opened.troubles[0]!, /longer than 1500 milliseconds.* at https:\/\/geese\.example\/nests/);
    assert.match(opened.troubles[1]!, /Error: no/);
  });

  test('that fills memory is ended, in the heap and beside it', async () => {
    const heap = 'export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(a.length)); }';
    assert.match(String(await outcome(script(heap))), /ended/);
    const beside =
      'export default () => { const a = []; for (let i = 0; i < 4000; i++) a.push(Buffer.alloc(1 << 20, 1)); }';
    assert.match(String(await outcome(script(beside))), /ended/);
  });

  test('that answers more than it was asked, or writes anything else, is ended', async () => {
    await using opened = await open(script('export default () => { process.stdout.write("CCCCCC") }'));
    assert.deepEqual(await opened.decider.decide(page), { ...plain, relevance: 67 }); // its own to give
    while (opened.troubles.length === 0) await new Promise(resolve => setTimeout(resolve, 10));
    assert.match(opened.troubles[0]!, /without a question/);
    assert.match(String(await outcome(script('export default () => { console.log("?") }'))), /standard output/);
  });

  test('that is no code is refused', async () => {
    assert.match(String(await outcome(script('export const nothing = 1'))), /default export/);
    assert.match(String(await outcome(script('export const wants = "all"; export default () => {}'))), /wants/);
    assert.match(String(await outcome(script('this is no JavaScript'))), /SyntaxError/);
  });
});

test('without bubblewrap JavaScript from elsewhere is refused, and the sentence says what to install', async () => {
  const code = Buffer.from('export default () => ({ keep: true })');
  const bubblewrap = [join(directory, 'none')];
  const refusal = String(await outcome(new Cages(code, { limits, own: false, bubblewrap })));
  assert.match(
    refusal,
    new RegExp(`not run on ${hostname()}: bubblewrap is missing; install .*apt install bubblewrap`),
  );
  const broken = join(directory, 'broken');
  writeFileSync(broken, '#!/bin/sh\necho bwrap: No permissions to create new namespace >&2; exit 1\n', { mode: 0o700 });
  const works = { limits, own: false, bubblewrap: [broken] };
  assert.match(
    String(await outcome(new Cages(code, works))),
    /does not work \(bwrap: No permissions .*; let it make user namespaces/,
  );
  // The user's own runs with what there is; WebAssembly has the limits of the system.
  assert.deepEqual(await outcome(new Cages(code, { limits, own: true, bubblewrap })), plain);
  assert.deepEqual(await outcome(new Cages(wasm([0x41, 0x80, 0x06]), works)), plain);
});

/** The 32-bit word at this place of the page. */
const word = (at: number) => [0x20, 0, 0x28, 2, at];

describe('WebAssembly', () => {
  test('is shown the facts, and what it wants of the page besides', async () => {
    const seen = async (at: number, wants = '') => {
      await using opened = await open(wasmCage(wasm(word(at), { wants }), limits));
      const { relevance } = await opened.decider.decide({ ...page, bytes: 200, content: Buffer.alloc(9) });
      return [relevance, opened.decider.wants];
    };
    assert.deepEqual(await seen(8), [200, 'facts']); // status
    assert.deepEqual(await seen(12), [3, 'facts']); // depth
    assert.deepEqual(await seen(20), [7, 'facts']); // links
    assert.deepEqual(await seen(44, 'text'), [9, 'text']); // length of the content
    assert.deepEqual(await seen(44, 'body'), [9, 'body']);
  });

  test('answers with bits: relevance, keep, follow', async () => {
    const bits = async (...constant: number[]) => outcome(wasmCage(wasm([0x41, ...constant]), limits));
    assert.deepEqual(await bits(0x80, 0x06), { keep: true, follow: true, relevance: 0 });
    assert.deepEqual(await bits(0x85, 0x02), { keep: true, follow: false, relevance: 5 });
    assert.deepEqual(await bits(0x80, 0x04), { keep: false, follow: true, relevance: 0 });
  });

  test('that imports anything, or states no bound for its memory, is refused', async () => {
    const trivial = [0x41, 1];
    const refusal = async (...made: Parameters<typeof wasm>) => String(await outcome(wasmCage(wasm(...made), limits)));
    assert.match(await refusal(trivial, { imports: true }), /imports/);
    assert.match(await refusal(trivial, { maximum: false }), /no maximum/);
    const small = { ...limits, memory: 1 << 20 };
    assert.match(String(await outcome(wasmCage(wasm(trivial, { most: 100 }), small))), /bytes of memory/);
  });

  test('that spins or traps costs one page, and is started again for the others', async () => {
    // Depth 2: spins; depth 4: traps; else: bits of the depth.
    const is = (depth: number) => [...word(12), 0x41, depth, 0x46, 0x04, 0x40];
    const body = [...is(2), 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, ...is(4), 0x00, 0x0b, ...word(12)];
    await using opened = await open(wasmCage(wasm(body), limits), 1000);
    const asked = Array.from({ length: 40 }, (_, depth) => opened.decider.decide({ ...page, depth }));
    const settled = await Promise.allSettled(asked);
    assert.deepEqual(
      settled.map(each => (each.status === 'fulfilled' ? each.value.relevance : 'failed')),
      asked.map((_, depth) => (depth === 2 || depth === 4 ? 'failed' : depth)),
    );
    assert.match(opened.troubles[0]!, /longer than 1000 milliseconds/);
    assert.match(opened.troubles[1]!, /unreachable/);
  });

  test('that is shown more than fits is ended; after twenty deaths in a row it is over', async () => {
    await using opened = await open(wasmCage(wasm([0x41, 1]), limits));
    const large = { ...page, content: Buffer.alloc(1 << 17) };
    const settled = await Promise.allSettled(Array.from({ length: 25 }, () => opened.decider.decide(large)));
    assert.ok(settled.every(each => each.status === 'rejected'));
    assert.equal(opened.troubles.length, 20);
    assert.match(opened.decider.over, /20 times in a row/);
    await assert.rejects(opened.decider.decide(page), { code: 'refused' });
  });
});
