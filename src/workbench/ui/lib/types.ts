/** What the API answers, as far as the pages here use it. */

export interface Sample {
  time: number;
  visits: number;
  changed: number;
  errors: number;
  bytes: number;
  queue: number | null;
}

export interface Visit {
  id: number;
  page: number;
  time: number;
  url: string;
  outcome: string;
  reason: string;
  means: string;
  stage: string | null;
  status: number;
  bytes: number;
  ms: number;
  outpost: string;
}

export interface Machine {
  name: string;
  remote: boolean;
  state: 'working' | 'idle' | 'full' | 'away' | 'gone';
  errands: number;
  pages: number;
  room: number;
  rate: number | null;
  visits: number | null;
  bytes: number | null;
  trouble: string;
  heard: number;
  outposts: Machine[];
}

export interface HomeState {
  time: number;
  started: number;
  command: string;
  state: 'working' | 'paused' | 'stopping' | 'ended';
  pages: number;
  outcomes: Record<string, number>;
  rate: number;
  bytesDown: number;
  bytesUp: number;
  queue: number;
  underWay: number;
  servers: number;
  known: number;
  memory: number;
  settings: { pace: number; limit: number | null; budget: string; scope: string; keep: string; excluded: string[] };
  machines: Machine[];
}

export interface Collection {
  known: number;
  visited: number;
  servers: number;
  due: number;
  dueCapped: boolean;
  freshness: number;
  freshnessAim: number;
  spentToday: number;
  avoidedToday: number;
  archiveBytes: number;
}

export interface Tick {
  sample: Sample;
  visits: Visit[];
  left: number;
  home: HomeState | null;
  collection: Collection;
  outposts: Record<string, { visits: number; bytes: number }>;
}

export interface PageLine {
  id: number;
  url: string;
  title: string | null;
  outcome: string;
  reason: string | null;
  means: string;
  status: number | null;
  type: string | null;
  bytes: number | null;
  time: number | null;
  changed: number | null;
  due: number | null;
  depth: number;
}

export interface PageVisit {
  id: number;
  time: number;
  outcome: string;
  reason: string;
  means: string;
  status: number;
  stage: string | null;
  amount: number | null;
  bytes: number;
  ms: number;
  outpost: string;
  stored: boolean;
}

export interface Place {
  id: number;
  url: string | null;
}

export interface PageDetail {
  id: number;
  url: string;
  state: string;
  role: string;
  depth: number;
  found: number;
  refused: string | null;
  refusedMeans: string;
  parent: Place | null;
  server?: { id: number; origin: string; paused: boolean; notBefore: number };
  linksIn: number;
  known?: {
    time: number;
    outcome: string;
    reason: string;
    means: string;
    status: number;
    tries: number;
    retry_at: number | null;
    due: number | null;
    changed_time: number;
    first_time: number;
    etag: string | null;
    last_modified: string | null;
    title: string | null;
    media_type: string | null;
    charset: string | null;
    language: string | null;
    bytes: number | null;
    movedTo: Place | null;
    sameAs: Place | null;
    near: Place | null;
    mayShow: boolean;
  };
}

export interface ServerLine {
  id: number;
  origin: string;
  address: string;
  robots: number;
  crawlDelay: number;
  notBefore: number;
  latency: number;
  failures: number;
  paused: number;
  pace: number | null;
  visits: number | null;
  spent: number | null;
  avoided: number | null;
}

export interface ServerDetail {
  id: number;
  origin: string;
  address: string;
  robots?: { status: number; body: string; time: number };
  sitemaps: string[];
  crawlDelay: number;
  notBefore: number;
  latency: number;
  failures: number;
  refused: Record<string, number>;
  paused: boolean;
  pace?: number;
  audits: number;
  lies: number;
  account: { day: number; cause: string; visits: number; spent: number; avoided: number }[];
  recentErrors: { id: number; page: number; time: number; reason: string; url: string }[];
}

export interface Change {
  id: number;
  page: number;
  time: number;
  kind: string;
  means: string;
  stage: string | null;
  amount: number | null;
  url: string;
  title: string | null;
}

export interface Fragment {
  text: string;
  hit: boolean;
}

export interface Hit {
  page: number;
  url: string;
  title: Fragment[];
  snippet: Fragment[];
  age: number;
  changedProbability?: number;
  copy: boolean;
  language: string;
}

export interface Stretch {
  kind: 'same' | 'changed';
  blocks?: string[];
  words?: { kind: 'same' | 'removed' | 'added'; items: string[] }[];
}

export interface Difference {
  from: { visit: number; time: number };
  to: { visit: number; time: number };
  title: { before: string; after: string };
  text: Stretch[];
  links: { removed: string[]; added: string[] };
  images: { removed: string[]; added: string[] };
  removed: number;
  added: number;
  sameText: boolean;
}
