/** Small PNG pictures, made from a hash: the same hash is the same picture, another one is plainly another. */
import { crc32, deflateSync } from 'node:zlib';
import { mix } from './random.ts';

/** An 8-bit grey picture of `side` × `side` pixels, four by four flat tiles. */
export function picture(hash: number, side = 32): Uint8Array {
  const rows = Buffer.alloc(side * (side + 1));
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const tile = Math.floor((y * 4) / side) * 4 + Math.floor((x * 4) / side);
      rows[y * (side + 1) + 1 + x] = mix(hash, tile) & 0xff;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 8; // bits per sample; colour type 0 (grey), no interlace
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
