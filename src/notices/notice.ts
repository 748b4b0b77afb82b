/**
 * One word of a site about one of its pages, however it came: the only form in which notices travel through home. Every
 * reader (feed, ResourceSync, WebSub, IndexNow, cursor face) makes these, and the schedule alone decides what they move.
 * A notice is a claim: nothing is archived or believed because of it.
 */
import { originOf } from '../base/url.ts';

/** The ways in which sites tell; how true each has been is learned apart. */
const noticeKinds = ['ping', 'sitemap', 'feed', 'websub', 'indexnow', 'resourcesync', 'cursor'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export interface Notice {
  readonly kind: NoticeKind;
  /** In normal form. */
  readonly url: string;
  readonly change: 'created' | 'updated' | 'deleted';
  /** When the site says that it changed, milliseconds since 1970; 0 = it does not say. */
  readonly time: number;
  /** SHA-256 of the new body, hexadecimal; absent = it does not say. */
  readonly sha256?: string;
  /** First 8 bytes of what our own detector makes of the new content, hexadecimal. */
  readonly content?: string;
  /** No link leads to it: it comes through the site alone. */
  readonly hidden?: 'record' | 'media';
}

/** Notices of one batch: a batch is what one poll or one delivery may bring. */
export const MOST_NOTICES = 50_000;

/**
 * Only a site itself may speak of its pages, and nobody knows what will be. What is left has one notice for each page,
 * the last one, and at most `MOST_NOTICES` of them.
 */
export function believable(notices: Iterable<Notice>, origin: string, now: number): Notice[] {
  const last = new Map<string, Notice>();
  for (const notice of notices) {
    if (originOf(notice.url) !== origin) continue;
    if (last.size >= MOST_NOTICES && !last.has(notice.url)) continue;
    const known = notice.time >= 0 && notice.time <= now;
    last.set(notice.url, known ? notice : { ...notice, time: 0 });
  }
  return [...last.values()];
}
