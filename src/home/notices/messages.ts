/** What home and the thread that reads notices say to each other. All of it is plain data, bounded by whoever makes it. */
import type { ServerTerms } from '../../errand/errand.ts';
import type { ServerNews } from '../../errand/parcel.ts';
import type { FaceKind, FaceState } from '../../ledger/schedule/faces.ts';
import type { FaceLink } from '../../notices/face-links.ts';
import type { Notice } from '../../notices/notice.ts';

/** A face as the thread sees it. */
export interface AskedFaces {
  readonly kind: FaceKind;
  readonly url: string;
  readonly state: FaceState;
}

/** What the thread is to do. `terms`: of the server that is asked. */
export type Task =
  | { readonly kind: 'discover'; readonly terms: ServerTerms }
  | { readonly kind: 'poll'; readonly terms: ServerTerms; readonly face: AskedFaces; readonly wait: number }
  /** Asks a hub to tell us of a topic. */
  | { readonly kind: 'subscribe'; readonly terms: ServerTerms; readonly face: AskedFaces; readonly callback: string }
  /** Reads what a hub delivered. */
  | { readonly kind: 'read'; readonly terms: ServerTerms; readonly face: AskedFaces; readonly bytes: Uint8Array }
  /** Tells a site which terms people searched that led to its pages. */
  | { readonly kind: 'searched'; readonly terms: ServerTerms }
  /** Sees whether a host has the key that was named with a submission. */
  | { readonly kind: 'verify'; readonly terms: ServerTerms; readonly key: string; readonly location: string };

export interface FoundFaces extends FaceLink {
  /** For people: `well-known`, `link header` … */
  readonly where: string;
}

/** What came of it. */
export interface Done {
  /** Those of the telling server's own pages, each once. */
  readonly notices: readonly Notice[];
  readonly found: readonly FoundFaces[];
  /** Cursor, ResourceSync: URLs of pages that we hold and of which the site, though it tells of its pages, does not tell. */
  readonly unspoken: readonly string[];
  /** Replaces the face's state. */
  readonly state: FaceState;
  /** Milliseconds until the next poll; 0 = at once, because there is more. */
  readonly every: number;
  /** Bytes on the wire. */
  readonly spent: number;
  /** What was learned of the server on the way. */
  readonly news?: ServerNews | undefined;
  /** Why nothing came; empty = all is well. */
  readonly trouble: string;
  /** `verify`: the host has the key. `subscribe`: the hub has taken the request. `searched`: the site has taken terms. */
  readonly granted: boolean;
  /** Cursor: where bodies are to be had in bulk; empty = nowhere, or not for us. */
  readonly pagesAt: string;
}

export const NOTHING: Done = {
  ...{ notices: [], found: [], unspoken: [], state: {}, every: 0, spent: 0, trouble: '', granted: false, pagesAt: '' },
};

export interface TaskMessage {
  readonly id: number;
  /** Of the partition that the server is of. */
  readonly directory: string;
  readonly task: Task;
}

export interface DoneMessage {
  readonly id: number;
  readonly done: Done;
}
