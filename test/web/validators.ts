/** The validators that a server sends with a page, true or lying, and what it makes of a conditional request. */
import { hashOf } from './random.ts';
import type { Reply } from './site.ts';

export interface Conditional {
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
}

export interface Validated {
  readonly headers: Record<string, string>;
  readonly notModified: boolean;
}

/** `turn` counts requests: it chooses which of the three back ends answers. */
export function validate(state: Reply['state'], time: number, turn: number, asked: Conditional): Validated {
  if (state === undefined) return { headers: {}, notModified: false };
  const { version, modified, validators } = state;
  const headers: Record<string, string> = {};
  const tag = `"v${version.toString(36)}"`;
  if (validators === 'right' || validators === 'etag') headers['etag'] = tag;
  if (validators === 'right' || validators === 'date') headers['last-modified'] = httpDate(modified);
  if (validators === 'now') headers['last-modified'] = httpDate(time);
  if (validators === 'constant') headers['etag'] = '"forever"';
  if (validators === 'stale') headers['last-modified'] = httpDate(Date.UTC(2020, 0, 1));
  if (validators === 'backends') headers['etag'] = `"b${hashOf(version, turn % 3).toString(36)}"`;
  return { headers, notModified: matches(headers, asked) };
}

/** RFC 9110 §13: the date counts only where no tag was sent. */
function matches(headers: Readonly<Record<string, string>>, asked: Conditional): boolean {
  if (asked.ifNoneMatch !== undefined) {
    const weak = (tag: string) => tag.trim().replace(/^W\//, '');
    const own = headers['etag'];
    return own !== undefined && asked.ifNoneMatch.split(',').some(tag => tag.trim() === '*' || weak(tag) === weak(own));
  }
  const date = headers['last-modified'];
  if (asked.ifModifiedSince === undefined || date === undefined) return false;
  return Date.parse(date) <= Date.parse(asked.ifModifiedSince);
}

export function httpDate(time: number): string {
  return new Date(time).toUTCString();
}
