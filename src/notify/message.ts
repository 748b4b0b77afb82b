/** What is told: one change, or several that were kept together. The id stays the same however often it is sent. */
import { createHash } from 'node:crypto';
import { harmless, harmlessLines } from '../base/harmless.ts';

export interface ToldChange {
  readonly url: string;
  readonly title: string;
  readonly kind: string;
  /** ISO 8601, of the visit that saw it. */
  readonly time: string;
  /** Why it counted. */
  readonly why: string;
  readonly added: number;
  readonly removed: number;
  readonly diff: string;
  /** How to see both versions. */
  readonly versions: { readonly before: string; readonly after: string };
}

export interface Message {
  /** Idempotency key: whoever has seen it has seen this message. */
  readonly id: string;
  readonly rule: string;
  readonly changes: readonly ToldChange[];
}

export function messageOf(rule: string, changes: readonly ToldChange[], keys: readonly string[]): Message {
  return {
    id: createHash('sha256')
      .update(JSON.stringify([rule, keys]))
      .digest('hex')
      .slice(0, 32),
    rule,
    changes,
  };
}

export function subjectOf({ rule, changes }: Message): string {
  const [first] = changes;
  const one = `${first?.title || first?.url} ${first?.kind === 'changed' ? 'changed' : `is ${first?.kind}`}`;
  return oneLine(changes.length === 1 ? `${rule}: ${one}` : `${rule}: ${changes.length} pages changed`);
}

/** For mail and feeds. */
export function textOf({ changes }: Message): string {
  const told = changes
    .map(
      ({ url, title, kind, time, why, diff, versions }) =>
        `${oneLine(title || url)}\n${url}\n${kind}, seen ${time}: ${why}\n\n${diff}\n\nbefore: ${versions.before}\nafter:  ${versions.after}\n`,
    )
    .join('\n');
  return harmlessLines(told);
}

/** Titles come from the web: a line break in one must not begin a header, nor an escape move somebody's terminal. */
const oneLine = (text: string) => harmless(text).replace(/\s+/g, ' ').slice(0, 200);
