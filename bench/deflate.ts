/**
 * Is the deflate encoder of our own still worth its keep beside node:zlib? The same pages and texts by each, in turns, in
 * one run: CPU per input (median of the rounds) and bytes. Pages stand for the members of an export, texts for what the search
 * index keeps of them.
 *
 *   node bench/deflate.ts [--rounds 9]
 */
import { parseArgs } from 'node:util';
import { constants, deflateRawSync, zstdCompressSync } from 'node:zlib';
import { deflateInput, inputRoom } from '../src/errand/deflate/deflate.ts';
import { entriesOf, historiesAvailable, openBlobs } from './histories.ts';

const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } }).values;

interface Encoder {
  readonly name: string;
  /** Bytes that came out. */
  readonly encode: (input: Buffer) => number;
}

const zstd = (level: number): Encoder => ({
  name: `zstd level ${level}`,
  encode: input => zstdCompressSync(input, { params: { [constants.ZSTD_c_compressionLevel]: level } }).length,
});

const encoders: readonly Encoder[] = [
  {
    name: 'own (WebAssembly)',
    encode(input) {
      inputRoom(input.length).set(input);
      return deflateInput(input.length).slice().length;
    },
  },
  { name: 'zlib level 1', encode: input => deflateRawSync(input, { level: 1 }).length },
  { name: 'zlib level 2', encode: input => deflateRawSync(input, { level: 2 }).length },
  zstd(1),
  zstd(3),
];

/** Without its markup, roughly: what matters is that it is prose of the usual length. */
function textOf(page: Buffer): Buffer {
  const text = page.toString().replace(/<(script|style)\b.*?<\/\1>|<[^>]*>/gs, ' ');
  return Buffer.from(text.replace(/\s+/g, ' '));
}

function measure(what: string, inputs: readonly Buffer[]): void {
  const taken = encoders.map(() => [] as number[]);
  const bytes = encoders.map(({ encode }) => inputs.reduce((sum, input) => sum + encode(input), 0)); // and warm
  for (let round = 0; round < Number(rounds); round++) {
    encoders.forEach(({ encode }, i) => {
      const before = process.cpuUsage();
      for (const input of inputs) encode(input);
      const { user, system } = process.cpuUsage(before);
      taken[i]!.push((user + system) / inputs.length);
    });
  }
  const median = taken.map(times => times.sort((a, b) => a - b)[times.length >> 1]!);
  const mean = inputs.reduce((sum, input) => sum + input.length, 0) / inputs.length;
  console.log(`\n${inputs.length} ${what}, ${Math.round(mean).toLocaleString('en')} bytes on average`);
  console.log('encoder              µs CPU   × own    bytes   × own');
  encoders.forEach(({ name }, i) => {
    const size = Math.round(bytes[i]! / inputs.length);
    const [time, share] = [median[i]! / median[0]!, bytes[i]! / bytes[0]!].map(each => each.toFixed(2).padStart(7));
    console.log(`${name.padEnd(19)} ${median[i]!.toFixed(1).padStart(7)} ${time} ${String(size).padStart(8)} ${share}`);
  });
}

/** Pages of all recorded sites alike. */
function recordedPages(count: number): Buffer[] {
  const blob = openBlobs();
  const entries = entriesOf(0).filter(({ ct }) => ct.startsWith('text/html'));
  const step = Math.max(1, Math.floor(entries.length / count));
  return entries.filter((_, i) => i % step === 0).map(({ b }) => Buffer.from(blob(b)));
}

if (!historiesAvailable) {
  console.log('notice: there are no recorded sites beside the project, so there is nothing to compress');
} else {
  const pages = recordedPages(300);
  measure('pages', pages);
  // Shorter texts are stored as they are (src/search/feed/texts.ts).
  measure(
    'texts',
    pages.map(textOf).filter(text => text.length >= 2048),
  );
}
