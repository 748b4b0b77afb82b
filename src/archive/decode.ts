/** Content codings removed from a stored body. What does not decode is data, not an exception. */
import * as zlib from 'node:zlib';

export interface Decoded {
  readonly bytes: Uint8Array;
  /** Why `bytes` are not the whole body; absent = they are. */
  readonly problem?: 'bad-coding' | 'too-large' | 'unknown-coding';
}

export interface DecodeOptions {
  /** Bytes that may come out. */
  readonly limit: number;
  /** The body was cut when it was stored: decode as far as it goes. */
  readonly cut: boolean;
}

const CODINGS_LIMIT = 3;

/** `encoding`: the Content-Encoding header; the coding applied last stands last. */
export function decode(body: Uint8Array, encoding: string, options: DecodeOptions): Decoded {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map(coding => coding.trim())
    .filter(coding => coding !== '' && coding !== 'identity');
  // Servers label empty bodies with a coding that they then do not apply.
  if (body.length === 0) return { bytes: body };
  if (codings.length > CODINGS_LIMIT) return { bytes: body, problem: 'bad-coding' };
  let bytes = body;
  for (const coding of codings.reverse()) {
    const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
    if (decoder === undefined) return { bytes, problem: 'unknown-coding' };
    try {
      bytes = decoder(bytes, options);
    } catch (error) {
      const large = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { bytes: new Uint8Array(0), problem: large ? 'too-large' : 'bad-coding' };
    }
  }
  return bytes.length > options.limit ? { bytes: bytes.subarray(0, options.limit), problem: 'too-large' } : { bytes };
}

type Decoder = (bytes: Uint8Array, options: DecodeOptions) => Uint8Array;

const deflated = ({ limit, cut }: DecodeOptions) => ({
  maxOutputLength: limit,
  finishFlush: cut ? zlib.constants.Z_SYNC_FLUSH : zlib.constants.Z_FINISH,
});

const gzip: Decoder = (bytes, options) => zlib.gunzipSync(bytes, deflated(options));

const decoders: Readonly<Record<string, Decoder>> = {
  gzip,
  'x-gzip': gzip,
  deflate(bytes, options) {
    // By the standard with a zlib header, in practice also without: the header is a multiple of 31.
    const wrapped = (bytes[0]! & 0x0f) === 8 && ((bytes[0]! << 8) | (bytes[1] ?? 0)) % 31 === 0;
    return (wrapped ? zlib.inflateSync : zlib.inflateRawSync)(bytes, deflated(options));
  },
  br: (bytes, { limit, cut }) =>
    zlib.brotliDecompressSync(bytes, {
      maxOutputLength: limit,
      finishFlush: cut ? zlib.constants.BROTLI_OPERATION_FLUSH : zlib.constants.BROTLI_OPERATION_FINISH,
    }),
  zstd: (bytes, { limit, cut }) =>
    zlib.zstdDecompressSync(bytes, {
      maxOutputLength: limit,
      finishFlush: cut ? zlib.constants.ZSTD_e_flush : zlib.constants.ZSTD_e_end,
    }),
};
