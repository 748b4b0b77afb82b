/** What hostile code would try: each attempt fails, says so in one sentence, and harms nobody. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Decider, type DeciderPage, sandboxLimits } from '../../src/outpost/decider.ts';
import { openScript } from '../../src/outpost/script-sandbox.ts';
import { openWasm } from '../../src/outpost/wasm-sandbox.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-sandbox-'));
after(() => rmSync(directory, { recursive: true }));
const secret = join(directory, 'secret');
writeFileSync(secret, 'the secret');

const page: DeciderPage = {
  url: 'https://geese.example/',
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: Buffer.from('<p>geese'),
};
const walled = existsSync('/usr/bin/bwrap');
const limits = { ...sandboxLimits, time: 3000 };
const script = (code: string) => openScript(Buffer.from(code), { limits, weak: !walled });

/** What the code makes of a page; errors of the sandbox as their sentence. */
async function outcome(opening: Promise<Decider>): Promise<unknown> {
  try {
    const decider = await opening;
    const decision = await decider.decide(page).finally(() => decider.close());
    return decision;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'refused', String((error as Error).stack));
    return (error as Error).message;
  }
}

describe('JavaScript', { skip: walled ? false : 'bubblewrap is not installed' }, () => {
  test('decides about pages', async () => {
    const decider = await script(
      'export default ({ url, body }) => ({ keep: url.endsWith("/"), changed: String.fromCharCode(...body).includes("swans") })',
    );
    assert.deepEqual(await decider.decide(page), { keep: true, changed: false });
    assert.deepEqual(await decider.decide({ ...page, body: Buffer.from('swans') }), { keep: true, changed: true });
    await decider.close();
  });

  /** The attempt as an expression; the page is kept if it succeeded. */
  const tries = (expression: string) =>
    outcome(
      script(
        `export default async () => { try { await (${expression}); return { keep: true } } catch (error) { return { keep: false } } }`,
      ),
    );
  const failed = { keep: false, changed: false };

  test('reads no file', async () => {
    assert.deepEqual(await tries(`(await import('node:fs')).readFileSync(${JSON.stringify(secret)})`), failed);
    assert.deepEqual(await tries(`(await import('node:fs')).readFileSync('/etc/passwd')`), failed);
  });

  test('writes nowhere', async () => {
    const target = join(directory, 'written');
    assert.deepEqual(await tries(`(await import('node:fs')).writeFileSync(${JSON.stringify(target)}, 'x')`), failed);
    assert.equal(existsSync(target), false);
  });

  test('starts no process and no thread, and ends nobody', async () => {
    assert.deepEqual(await tries(`(await import('node:child_process')).execFileSync('/node', ['--version'])`), failed);
    assert.deepEqual(await tries(`new ((await import('node:worker_threads')).Worker)('1', { eval: true })`), failed);
    assert.deepEqual(await tries(`process.kill(${process.pid}, 0)`), failed);
  });

  test('opens no socket', async () => {
    let knocks = 0;
    const server = createServer(() => knocks++).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const dial = `new Promise((resolve, reject) => import('node:net').then(({ connect }) => connect(${port}, '127.0.0.1').on('connect', resolve).on('error', reject), reject))`;
    assert.deepEqual(await tries(dial), failed);
    assert.equal(knocks, 0);
    await new Promise(resolve => server.close(resolve));
  });

  test('sees no environment', async () => {
    assert.deepEqual(
      await tries(`(() => { if (process.env.PATH === undefined && process.env.HOME === undefined) throw 1 })()`),
      failed,
    );
  });

  test('that spins is ended', async () => {
    assert.match(String(await outcome(script('export default () => { for (;;); }'))), /took longer/);
  });

  test('that fills memory is ended, in the heap and beside it', async () => {
    assert.match(
      String(
        await outcome(script('export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(a.length)); }')),
      ),
      /ended/,
    );
    const beside =
      'export default () => { const a = []; for (let i = 0; i < 4000; i++) a.push(Buffer.alloc(1 << 20, 1)); return { keep: true } }';
    assert.match(String(await outcome(script(beside))), /ended/);
  });

  test('that answers more than it was asked is ended', async () => {
    const decider = await script('export default () => { process.stdout.write("bbbbbb"); return { keep: true } }');
    assert.deepEqual(await decider.decide(page), { keep: true, changed: false }); // its own to give
    await assert.rejects(decider.decide(page), { code: 'refused', message: /was not asked/ });
    await decider.close();
  });

  test('that writes anything else is ended', async () => {
    const code = 'export default () => { process.stdout.write("?"); return { keep: true } }';
    assert.match(String(await outcome(script(code))), /standard output/);
  });

  test('that is no code is refused', async () => {
    assert.match(String(await outcome(script('export const nothing = 1'))), /default export/);
    assert.match(String(await outcome(script('this is no JavaScript'))), /SyntaxError/);
  });
});

test('without bubblewrap JavaScript is refused, unless the owner allows the weak sandbox', async () => {
  const code = Buffer.from('export default () => ({ keep: true })');
  const bubblewrap = join(directory, 'none');
  await assert.rejects(openScript(code, { limits, weak: false, bubblewrap }), {
    code: 'refused',
    message: /bubblewrap/,
  });
  const decider = await openScript(code, { limits, weak: true, bubblewrap });
  assert.deepEqual(await decider.decide(page), { keep: true, changed: false });
  await decider.close();
});

/** A module by hand: memory of one page, input returns 0, decide runs `body`. */
function wasm(body: readonly number[], { most = 1, imports = false, maximum = true } = {}): Uint8Array {
  const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const code = [0, ...body, 0x0b];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7f),
    ...(imports ? section(2, 1, ...name('env'), ...name('abort'), 0, 0) : []),
    ...section(3, 2, 0, 1),
    ...section(5, 1, ...(maximum ? [1, 1, most] : [0, 1])),
    ...section(7, 3, ...name('memory'), 2, 0, ...name('input'), 0, 0, ...name('decide'), 0, 1),
    ...section(10, 2, 4, 0, 0x41, 0, 0x0b, code.length, ...code),
  ]);
}

describe('WebAssembly', () => {
  test('decides about pages', async () => {
    // The first byte of the page, `{`, is kept as bits: 0x7b & 3 = 3.
    const decider = await openWasm(wasm([0x20, 0, 0x2d, 0, 0]), limits);
    assert.deepEqual(await decider.decide(page), { keep: true, changed: true });
    assert.deepEqual(await decider.decide(page), { keep: true, changed: true });
    await decider.close();
  });

  test('that imports anything, or states no bound for its memory, is refused', async () => {
    const trivial = [0x41, 1];
    await assert.rejects(openWasm(wasm(trivial, { imports: true }), limits), /imports/);
    await assert.rejects(openWasm(wasm(trivial, { maximum: false }), limits), /no maximum/);
    await assert.rejects(openWasm(wasm(trivial, { most: 100 }), { ...limits, memory: 1 << 20 }), /bytes of memory/);
    await assert.rejects(openWasm(Buffer.from('not a module'), limits), /not WebAssembly/);
  });

  test('that spins is ended', async () => {
    assert.match(
      String(await outcome(openWasm(wasm([0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 1]), { ...limits, time: 300 }))),
      /took longer/,
    );
  });

  test('that traps, or is shown more than fits, is ended', async () => {
    assert.match(String(await outcome(openWasm(wasm([0x00]), limits))), /unreachable/);
    const decider = await openWasm(wasm([0x41, 1]), limits);
    await assert.rejects(decider.decide({ ...page, body: Buffer.alloc(1 << 17) }), { code: 'refused' });
    await decider.close();
  });
});
