/** A request and its answer as every face sees them, whichever server or framework carries them. */
import { encodeFailure, type SiteErrorCode, siteErrors } from '../../notices/site/discovery.ts';

export interface FaceRequest {
  readonly method: string;
  /** Without the query; not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By its name in small letters. */
  header(name: string): string | undefined;
  /** Rejects with `too-large` beyond so many bytes. */
  body(most: number): Promise<Uint8Array>;
  /** Of whoever asks. */
  readonly address: string;
  /** A client certificate that the owner trusts came with the connection. */
  readonly certified: boolean;
  /** Aborted when whoever asked has gone. */
  readonly gone?: AbortSignal | undefined;
}

export interface FaceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** What a face throws to answer with an error. */
export class FaceError extends Error {
  readonly code: SiteErrorCode;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(code: SiteErrorCode, message: string, retryAfter?: number) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export function failed({ code, message, retryAfter }: FaceError): FaceAnswer {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (code === 'token-wanted') headers['www-authenticate'] = 'Bearer';
  return { status: siteErrors[code], headers, body: encodeFailure(code, message) };
}

export function json(value: unknown): FaceAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, body: JSON.stringify(value) };
}
