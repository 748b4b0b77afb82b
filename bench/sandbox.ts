/**
 * What does the cage cost? Pages of the recorded sites are decoded, analysed and packed as an outpost does; then the same
 * with a decider asked about each of them, in WebAssembly (a thread) and in JavaScript (a process behind bubblewrap).
 *
 *   node bench/sandbox.ts
 *
 * Time is wall time, as the cage is elsewhere; sixteen pages are under way at once, as they are from several servers.
 */
import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { analyse } from '../src/crawler/analyse.ts';
import { packer } from '../src/crawler/pack.ts';
import { decodeBody } from '../src/errand/decode.ts';
import { payloadDigest } from '../src/errand/warc.ts';
import { type Decider, sandboxLimits } from '../src/outpost/decider.ts';
import { openScript } from '../src/outpost/script-sandbox.ts';
import { openWasm } from '../src/outpost/wasm-sandbox.ts';
import { entriesOf, openBlobs } from './histories.ts';

const ROUNDS = 3;
const PAGES = 600;
const UNDER_WAY = 16;

/** A module whose decide() looks at one byte: what is measured is the way there and back. Memory: 32 pages, 64 at most. */
const wasm = Buffer.from(
  '0061736d01000000010c0260017f017f60027f7f017f0303020001050401012040071b03066d656d6f7279020005696e7075' +
    '7400000664656369646500010a0e02040041000b070020002d00000b',
  'hex',
);
const script = `export default ({ body }) => { let sum = 0; for (let i = 0; i < body.length; i += 64) sum += body[i]; return { keep: sum >= 0, changed: true } }`;

async function run(bodies: readonly Buffer[], decider: Decider | undefined): Promise<number> {
  const packing = packer({ whenBusy: 'stored' });
  const started = performance.now();
  const visit = async (body: Buffer, n: number) => {
    const url = `https://example.org/${n}`;
    const headers = new Map([
      ['content-type', 'text/html'],
      ['content-encoding', 'gzip'],
    ]);
    const decoded = decodeBody(body, 'gzip', { bodyBytes: 1e8 });
    if (decoded.kind !== 'ok') return;
    const digest = payloadDigest(body);
    analyse({ url, headers, body: decoded.bytes, raw: digest.subarray(0, 16) });
    const decision = await decider?.decide({
      url,
      status: 200,
      headers: Object.fromEntries(headers),
      body: decoded.bytes,
    });
    if (decision?.keep === false) return;
    const head = Buffer.from('HTTP/1.1 200 OK\r\n\r\n');
    const wire = { up: 0, down: 0, firstByte: 0, total: 0 };
    const response = {
      kind: 'response',
      status: 200,
      head,
      requestHead: head,
      headers,
      body,
      protocol: 'http/1.1',
      address: '',
      wire,
    } as const;
    packing.add({ url, time: 0, digest, response }, true);
    if (packing.length > 4e6) packing.take();
  };
  let next = 0;
  const walk = async () => {
    for (let n = next++; n < bodies.length; n = next++) await visit(bodies[n]!, n);
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, walk));
  return (bodies.length / (performance.now() - started)) * 1000;
}

async function main(): Promise<void> {
  if (!existsSync(new URL('../../shared/data/dev', import.meta.url))) {
    console.log('skipped: no recorded sites');
    return;
  }
  const blob = openBlobs();
  const pages = entriesOf(0).filter(({ ct }) => ct.startsWith('text/html'));
  const bodies = pages.slice(0, PAGES).map(({ b }) => gzipSync(blob(b), { level: 6 }));
  const limits = { ...sandboxLimits, time: 10_000 };
  const deciders: [string, Decider | undefined][] = [['no decider', undefined]];
  deciders.push(['WebAssembly', await openWasm(wasm, limits)]);
  if (existsSync('/usr/bin/bwrap'))
    deciders.push(['JavaScript', await openScript(Buffer.from(script), { limits, weak: false })]);
  else console.log('JavaScript is left out: bubblewrap is not installed');
  const rates = new Map<string, number[]>(deciders.map(([name]) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, decider] of deciders) {
      const rate = await run(bodies, decider);
      if (round > 0) rates.get(name)!.push(rate); // the first round warms up
    }
  }
  const median = (name: string) => rates.get(name)!.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  const plain = median('no decider');
  for (const [name, decider] of deciders) {
    const share = median(name) / plain;
    const verdict = decider ? `, at least 0.7 wanted (${share >= 0.7 ? 'met' : 'missed'})` : '';
    console.log(
      `sandbox, ${name}: ${median(name).toFixed(0)} pages/s, ${share.toFixed(2)} of the same without${verdict}`,
    );
    await decider?.close();
  }
}

await main();
