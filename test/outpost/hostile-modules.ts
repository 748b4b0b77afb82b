/** Modules in WebAssembly that want more than they may have; by hand, so that each is exactly what it says. */

const section = (id: number, ...bytes: number[]) => [id, ...leb(bytes.length), ...bytes];
const name = (text: string) => [text.length, ...Buffer.from(text)];
const loop = (...body: number[]) => [0x03, 0x40, ...body, 0x0c, 0, 0x0b];
const constant = (value: number) => [0x41, ...signed(value)];

/** Unsigned, as WebAssembly writes numbers. */
function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

function signed(value: number): number[] {
  return value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)];
}

interface Parts {
  readonly types?: readonly number[][];
  readonly tables?: readonly number[][];
  readonly memory?: readonly number[];
  readonly globals?: readonly number[][];
  readonly body: readonly number[];
}

function moduleOf({ types = [], tables = [], memory = [1, 1, 1], globals = [], body }: Parts): Uint8Array {
  const code = [0, ...body, ...constant(0), 0x0b];
  const exported = [...name('memory'), 2, 0, ...name('input'), 0, 0, ...name('decide'), 0, 1];
  const signatures = [
    [0x60, 1, 0x7f, 1, 0x7f],
    [0x60, 2, 0x7f, 0x7f, 1, 0x7f],
  ];
  const all = [...signatures, ...types];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, ...leb(all.length), ...all.flat()),
    ...section(3, 2, 0, 1),
    ...(tables.length > 0 ? section(4, ...leb(tables.length), ...tables.flat()) : []),
    ...section(5, 1, ...memory),
    ...(globals.length > 0 ? section(6, ...leb(globals.length), ...globals.flat()) : []),
    ...section(7, 3, ...exported),
    ...section(10, 2, 4, 0, 0x41, 0, 0x0b, ...leb(code.length), ...code),
  ]);
}

const functions = (least: number) => [0x70, 0, ...leb(least)];
/** Grows the table and forgets whether that went well. */
const grow = (table: number, entries: number) => [0xd0, 0x70, ...constant(entries), 0xfc, 0x0f, ...leb(table), 0x1a];
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

/** Ends the thread that it runs in, and the process around that. */
const growingTable = moduleOf({ tables: [functions(0)], body: loop(...grow(0, 9_999_999)) });

const growingSlowly = moduleOf({ tables: [functions(0)], body: loop(...grow(0, 1000)) });

export const spinning = moduleOf({ body: loop() });

export const largeTables = moduleOf({ tables: many(200, () => functions(100_000)), body: [] });

/** The form of a table that begins with a value. */
export const tableWithValue = moduleOf({
  tables: [[0x40, 0, 0x70, 0, ...leb(10_000_000), 0xd0, 0x70, 0x0b]],
  body: [],
});

/** Memory beside what a thread's limits count, which stayed when the thread was ended. */
const thousandTables = moduleOf({
  tables: many(1000, () => functions(10)),
  body: [...many(1000, i => grow(i, 90_000)).flat(), ...loop()],
});

/** A list of arrays of a megabyte each. */
const arrays = moduleOf({
  types: [
    [0x5e, 0x7e, 1],
    [0x5f, 2, 0x63, 3, 0, 0x64, 2, 0],
  ],
  globals: [[0x63, 3, 1, 0xd0, 3, 0x0b]],
  body: loop(...[0x23, 0], ...constant(125_000), ...[0xfb, 7, 2], ...[0xfb, 0, 3], ...[0x24, 0]),
});

/** All of the memory that it may state, every byte of it touched, and tables besides. */
const allOfIt = moduleOf({
  memory: [1, 1, ...leb(2048)],
  tables: many(100, () => functions(0)),
  body: [
    ...[...constant(2047), 0x40, 0, 0x1a],
    ...[...constant(0), ...constant(7), ...constant(0x7ff_ffff), 0xfc, 0x0b, 0],
    ...many(100, i => grow(i, 99_000)).flat(),
    ...loop(),
  ],
});

/** Those that are started before they want it. */
export const greedy = { growingTable, growingSlowly, thousandTables, arrays, allOfIt };
