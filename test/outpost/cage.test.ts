/** What is left when code gets past everything that the language forbids: limits and walls of the system. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import type { PageQuestion } from '../../src/crawler/decider.ts';
import { cageCommand, cageMeans } from '../../src/outpost/cages/cage-start.ts';
import { openDecider } from '../../src/outpost/cages/caged-decider.ts';
import { sandboxLimits } from '../../src/outpost/cages/decider.ts';
import { Deciders } from '../../src/outpost/cages/deciders.ts';
import { Cages } from '../../src/outpost/cages/process-cage.ts';
import { seccompFilter } from '../../src/outpost/cages/seccomp.ts';
import { checkModule } from '../../src/outpost/cages/wasm-limits.ts';
import { randomly } from '../random.ts';
import { greedy, largeTables, spinning, tableWithValue } from './hostile-modules.ts';

const linux = process.platform === 'linux' ? false : 'only Linux has these limits';
const limits = { ...sandboxLimits, time: 4000 };
const facts = { ...{ status: 200, depth: 0, bytes: 0, links: 0, words: 0 }, first: true };
const page: PageQuestion = {
  ...{ url: 'http://a.example/', title: '', language: '', mediaType: '' },
  ...facts,
  content: new Uint8Array(),
};

const read = (file: string) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
};

/** Processes that this one has started, and those that they have. */
function descendants(): number[] {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    parents.set(pid, Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0));
  }
  const isOurs = (pid: number): boolean => pid !== 0 && (pid === process.pid || isOurs(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(pid => pid !== process.pid && isOurs(pid));
}

const megabytes = (pid: number | 'self', field: string) =>
  Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

interface Attack {
  readonly said: string;
  /** Megabytes that the largest process of a cage ever had. */
  readonly peak: number;
}

/** Shows a page to the module: what it was ended with. */
async function attack(code: Uint8Array, bubblewrap?: string[]): Promise<Attack> {
  let peak = 0;
  const look = setInterval(() => {
    for (const pid of descendants()) peak = Math.max(peak, megabytes(pid, 'VmHWM'));
  }, 20);
  const cages = new Cages(code, { limits, own: false, ...(bubblewrap && { bubblewrap }) });
  try {
    const decider = await openDecider(cages, { time: limits.time, say: () => {} });
    const said = await decider.decide(page).then(
      () => 'it got through',
      error => String(error.message),
    );
    await decider.close();
    return { said, peak };
  } catch (error) {
    return { said: String((error as Error).message), peak };
  } finally {
    clearInterval(look);
  }
}

/** Of Node's own 50, the 128 that are allowed, and what collecting and compiling take. */
const MOST = 300;

for (const [where, bubblewrap] of [
  ['', undefined],
  [', without bubblewrap', ['/none']],
] as const) {
  describe(`WebAssembly that wants more memory than it may have${where}`, { skip: linux }, () => {
    for (const [name, code] of Object.entries(greedy)) {
      test(`${name} ends in its own process, and takes nothing of ours`, async () => {
        const before = megabytes('self', 'VmRSS');
        const { said, peak } = await attack(code, bubblewrap && [...bubblewrap]);
        assert.match(said, /The decider was ended: (FATAL ERROR|RangeError|its process ended|it took longer)/);
        assert.ok(peak > 30 && peak < MOST, `${peak} MB`);
        while (descendants().length > 0) await new Promise(resolve => setTimeout(resolve, 10));
        assert.ok(megabytes('self', 'VmRSS') - before < 60, 'memory stayed here');
      });
    }
  });
}

test('tables that are too large to begin with are refused in words, in every way of writing them', async () => {
  for (const code of [largeTables, tableWithValue]) {
    assert.match((await attack(code)).said, /The decider is refused: (its table is too large|one of its tables)/);
  }
});

test('100,000 mutations of modules are refused in words, or are left to the limits', () => {
  const seed = Date.now() & 0xffffff;
  const random = randomly(seed);
  const modules = [...Object.values(greedy), largeTables, tableWithValue, spinning];
  for (let i = 0; i < 100_000; i++) {
    const mutant = Uint8Array.from(modules[random.below(modules.length)]!);
    const start = random.below(4) > 0 ? 8 : 0;
    for (let left = 1 + random.below(4); left > 0; left--) {
      mutant[start + random.below(Math.min(120, mutant.length - start))] = random.below(256);
    }
    try {
      checkModule(mutant.subarray(0, random.below(3) > 0 ? mutant.length : random.below(mutant.length)), limits.memory);
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'refused', `seed ${seed}: ${(error as Error).stack}`);
    }
  }
});

test('after an attack the same thread goes on with honest code', { skip: linux }, async () => {
  const deciders = new Deciders({ own: false, limits }, () => {});
  const honest = Buffer.from(
    '0061736d01000000010c0260017f017f60027f7f017f0303020001050401012040071b03066d656d6f7279020005696e7075' +
      '740000066465636964650001' +
      '0a0c02040041000b05004180060b',
    'hex',
  );
  for (const code of [greedy.arrays, honest]) deciders.add(code);
  await assert.rejects((await deciders.get(hash('sha256', greedy.arrays))).decide(page), { code: 'refused' });
  const verdict = await (await deciders.get(hash('sha256', honest))).decide(page);
  assert.deepEqual(verdict, { keep: true, follow: true, relevance: 0 });
  await deciders.close();
  while (descendants().length > 0) await new Promise(resolve => setTimeout(resolve, 10));
});

for (const wall of ['', ', without bubblewrap']) {
  test(`code that spins does not outlive us when we are killed${wall}`, { skip: linux }, async () => {
    const source = (path: string) => JSON.stringify(new URL(`../../src/outpost/cages/${path}`, import.meta.url).href);
    const terms = `{ limits, own: false${wall === '' ? '' : ", bubblewrap: ['/none']"} }`;
    const script = `const { Cages } = await import(${source('process-cage.ts')});
      const limits = { memory: 1 << 27, time: 60_000, processor: 60 };
      const spins = Uint8Array.from(${JSON.stringify([...spinning])});
      const cage = await new Cages(spins, ${terms}).open({ answer() {}, ended() {} });
      cage.show(new Uint8Array([48, ...Array(47).fill(0)]));
      setTimeout(() => console.log('SPINNING'), 300);
      setTimeout(() => {}, 60_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text));
    await new Promise((resolve, reject) => {
      child.stdout.once('data', resolve);
      child.once('close', () => reject(new Error(said)));
    });
    const cages = descendants().filter(pid => pid !== child.pid);
    assert.ok(cages.length > 0);
    child.kill('SIGKILL');
    while (cages.some(pid => read(`/proc/${pid}/stat`) !== '')) await new Promise(resolve => setTimeout(resolve, 20));
  });
}

const means = await cageMeans(limits);
const unwalled = means.wall === '' ? means.lacking : false;

/** Runs JavaScript in the cage as if it had got past Node's permissions; what it prints, and a look at it from outside. */
async function inside(script: string, outside: (pid: number) => void = () => {}): Promise<string> {
  const data = means.idle! + limits.memory + (48 << 20);
  const words = cageCommand(means, ['--no-warnings', '--eval', script], { processor: 60, data });
  const child = spawn('/bin/sh', words, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: {}, cwd: '/' });
  (child.stdio[3] as Writable).end(seccompFilter());
  let said = '';
  const hear = (text: Buffer) => {
    said += text;
    if (!said.includes('LOOK')) return;
    outside(descendants().at(-1)!);
    child.stdin!.end();
  };
  child.stdout!.on('data', hear);
  child.stderr!.on('data', hear);
  await new Promise(resolve => child.once('close', resolve));
  return said;
}

/** Each expression, and how it failed. */
async function failures(expressions: readonly string[]): Promise<string[]> {
  const script = `(async () => {
    const fs = require('fs'), net = require('net'), cp = require('child_process'), v8 = require('v8');
    for (const text of ${JSON.stringify(expressions)}) {
      const said = await (async () => eval(text))().then(() => 'DONE', error => String(error.code ?? error.message));
      console.log(said.split('\\n')[0]);
    }
  })()`;
  return (await inside(script)).trim().split('\n');
}

describe('behind bubblewrap, past all that Node forbids', { skip: unwalled }, () => {
  test('nothing can be written, by whatever way', async () => {
    const places = ['/x', '/node', '/tmp/x', '/dev/shm/x', '/lib/x', '/usr/lib/x', '/proc/self/mem'];
    const said = await failures([
      ...places.map(path => `fs.writeFileSync('${path}', 'x')`),
      `fs.mkdirSync('/dir')`,
      `new (require('node:sqlite').DatabaseSync)('/a.db').exec('create table a (b)')`,
      `new (require('node:sqlite').DatabaseSync)('').exec('create table a (b); insert into a values (zeroblob(900000000))')`,
      `v8.writeHeapSnapshot('/heap')`,
    ]);
    assert.ok(!said.includes('DONE'), said.join('\n'));
    assert.equal(said.length, places.length + 4);
  });

  test('memory has an end, in a database and beside the heap too', async () => {
    const database = `const d = new (require('node:sqlite').DatabaseSync)(':memory:'); d.exec('create table a (b)');
      for (let i = 0; i < 400; i++) d.exec('insert into a values (zeroblob(10000000))'); console.log('GOT-IT', 'ALL')`;
    assert.doesNotMatch(await inside(database), /GOT-IT ALL/);
    const buffers = `const all = []; for (let i = 0; i < 400; i++) all.push(Buffer.alloc(10000000, 1)); console.log('GOT-IT', 'ALL')`;
    assert.doesNotMatch(await inside(buffers), /GOT-IT ALL/);
    const shared = `const all = []; for (let i = 0; i < 400; i++) { const s = new Uint8Array(new SharedArrayBuffer(10000000)); s.fill(1); all.push(s); } console.log('GOT-IT', 'ALL')`;
    assert.doesNotMatch(await inside(shared), /GOT-IT ALL/);
  });

  test('there is no process to start or to end, no socket, no environment, no name of the machine', async () => {
    const said = await failures([
      `cp.execFileSync('/node', ['--version'])`,
      `cp.spawnSync('/node').error && (() => { throw cp.spawnSync('/node').error })()`,
      `process.kill(${process.pid}, 0)`,
      `new Promise((resolve, reject) => net.connect(80, '127.0.0.1', resolve).on('error', reject))`,
      `new Promise((resolve, reject) => net.createServer().listen('/s', resolve).on('error', reject))`,
      `new Promise((resolve, reject) => { try { require('dgram').createSocket('udp4').on('error', reject).bind(0, resolve) } catch (e) { reject(e) } })`,
      `process.setuid(1)`,
      `if (Object.keys(process.env).some(name => name !== 'PWD') || require('os').hostname() !== 'cage') 0; else throw Error('nothing to see')`,
      `for (let i = 0; i < 200; i++) fs.openSync('/node')`,
    ]);
    assert.ok(!said.includes('DONE'), said.join('\n'));
    assert.equal(said.at(-1), 'EMFILE');
    assert.notEqual(hostname(), 'cage');
  });

  test('seen from outside: no capability, no way to more, a filter, and limits', async () => {
    let seen = '';
    const said = await inside(`console.log('LOOK'); process.stdin.resume()`, pid => {
      seen = read(`/proc/${pid}/status`) + read(`/proc/${pid}/limits`) + read(`/proc/${pid}/oom_score_adj`);
    });
    assert.match(seen, /^Name:\s*(node|MainThread)/m, said);
    assert.match(seen, /^CapEff:\s*0+$/m);
    assert.match(seen, /^CapBnd:\s*0+$/m);
    assert.match(seen, /^NoNewPrivs:\s*1$/m);
    if (seccompFilter()) assert.match(seen, /^Seccomp:\s*2$/m);
    assert.match(seen, /^Max file size\s+0\s+0\s/m);
    assert.match(seen, /^Max core file size\s+0\s+0\s/m);
    assert.match(seen, /^Max open files\s+64\s+64\s/m);
    assert.doesNotMatch(seen, /^Max data size\s+unlimited/m);
    assert.match(seen, /^1000$/m);
  });
});

test('the filter is one that the kernel takes, for both architectures', () => {
  for (const architecture of ['x64', 'arm64']) {
    const filter = Buffer.from(seccompFilter(architecture)!);
    const steps = filter.length / 8;
    for (let i = 0; i < steps; i++) {
      if (filter[i * 8] === 0x06) continue; // it returns
      const last = i + 1 + Math.max(filter[i * 8 + 2]!, filter[i * 8 + 3]!);
      assert.ok(last < steps, `step ${i} jumps out`);
    }
  }
  assert.equal(seccompFilter('mips'), undefined);
});

test('cages of one code use a process that waits, from the first death on', { skip: linux }, async () => {
  const leaves = Buffer.from('export default ({ depth }) => { if (depth > 0) process.exit(3); }');
  const decider = await openDecider(new Cages(leaves, { limits, own: true }), { time: limits.time, say: () => {} });
  const nodes = () =>
    descendants().filter(pid => /^Name:\s*(node|MainThread)/m.test(read(`/proc/${pid}/status`))).length;
  try {
    assert.equal(nodes(), 1);
    await assert.rejects(decider.decide({ ...page, depth: 1 }), /its process ended/);
    await decider.decide(page);
    while (nodes() !== 2) await new Promise(resolve => setTimeout(resolve, 10));
  } finally {
    await decider.close();
  }
  while (descendants().length > 0) await new Promise(resolve => setTimeout(resolve, 10));
});
