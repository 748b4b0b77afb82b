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
  return oneLine(`${rule}: ${changes.length === 1 ? one : several(changes)}`);
}

/** `2 pages changed, 1 gone`; a page that changed twice is one page. */
function several(changes: readonly ToldChange[]): string {
  const kinds = Map.groupBy(changes, ({ kind }) => kind);
  return [...kinds]
    .map(([kind, some], i) => {
      const pages = new Set(some.map(({ url }) => url)).size;
      return `${pages}${i > 0 ? '' : pages === 1 ? ' page' : ' pages'} ${kind}`;
    })
    .join(', ');
}

/** For mail and feeds. */
export function textOf({ changes }: Message): string {
  const told = changes
    .map(change => {
      const { url, title, diff, versions } = change;
      return `${oneLine(title || url)}\n${url}\n${seen(change)}\n\n${diff}\n\nbefore: ${versions.before}\nafter:  ${versions.after}\n`;
    })
    .join('\n');
  return harmlessLines(told);
}

/** The same where words can be struck out and coloured. Nothing of a page acts: all of it is escaped. */
export function htmlOf({ changes }: Message): string {
  return changes
    .map(change => {
      const { url, title, diff, versions } = change;
      const [link, words] = [escaped(url), escaped(harmlessLines(diff))];
      const marked = words
        .replace(/\{\+(.*?)\+\}/gs, '<ins style="background:#d7f5dd">$1</ins>')
        .replace(/\[-(.*?)-\]/gs, '<del style="background:#fbdfdf">$1</del>');
      return `<h3><a href="${link}">${escaped(oneLine(title || url))}</a></h3>
<p>${escaped(seen(change))}</p>
<p style="white-space:pre-wrap">${marked}</p>
<p>before: <code>${escaped(versions.before)}</code><br>after: <code>${escaped(versions.after)}</code></p>`;
    })
    .join('\n<hr>\n');
}

const seen = ({ kind, time, why }: ToldChange): string =>
  `${kind}, seen ${time.slice(0, 16).replace('T', ' ')} UTC: ${why}`;

/** For HTML and XML; what XML cannot hold at all is left out. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

/** Titles come from the web: a line break in one must not begin a header, nor an escape move somebody's terminal. */
const oneLine = (text: string) => harmless(text).replace(/\s+/g, ' ').slice(0, 200);
