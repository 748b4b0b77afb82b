/** A table as Parquet, written as it comes: rows are held until a group of them is full. */
import type { Writable } from 'node:stream';
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { put } from './exporter.ts';

export type Cell = string | number | boolean | Date | null | undefined;

export interface Column {
  readonly name: string;
  readonly type: 'STRING' | 'INT32' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMP';
}

interface Table {
  add(row: readonly Cell[]): Promise<void>;
  /** The end of the file; `out` stays open. */
  end(): Promise<void>;
}

/** Rows of a group, and characters after which it is full however few they are: it is held in memory. */
const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 32_000_000;

const physical = {
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  INT32: { type: 'INT32' },
  DOUBLE: { type: 'DOUBLE' },
  BOOLEAN: { type: 'BOOLEAN' },
  TIMESTAMP: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const;

export function parquetTo(out: Writable, columns: readonly Column[]): Table {
  const bytes = new Passing();
  const writer = new ParquetWriter({
    writer: bytes,
    codec: 'ZSTD',
    compressors: { ZSTD: (input: Uint8Array) => zstdCompressSync(input) },
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type }) => ({ name, ...physical[type], repetition_type: 'OPTIONAL' as const })),
    ],
  });
  let rows: (readonly Cell[])[] = [];
  let characters = 0;
  const group = async () => {
    if (rows.length === 0) return;
    const columnData = columns.map(({ name }, i) => ({ name, data: rows.map(row => row[i] ?? null) }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    [rows, characters] = [[], 0];
    await put(out, bytes.take());
  };
  return {
    async add(row) {
      rows.push(row);
      for (const cell of row) characters += typeof cell === 'string' ? cell.length : 8;
      if (rows.length >= GROUP_ROWS || characters >= GROUP_CHARACTERS) await group();
    },
    async end() {
      await group();
      await writer.finish();
      await put(out, bytes.take());
    },
  };
}

/** Gives away what was written so far; places in the file go on being counted. */
class Passing extends ByteWriter {
  take(): Uint8Array {
    const taken = new Uint8Array(this.buffer.slice(0, this.index));
    this.index = 0;
    return taken;
  }
}
