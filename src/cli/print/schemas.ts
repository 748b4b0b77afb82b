/**
 * What each command prints with --json, as schemas: docs/json.md is written from them, and a test holds every command
 * against them. No command loads this file. Times are ISO 8601 in UTC; null stands for "none" or "not known".
 */
import { z } from 'zod';

const time = z.iso.datetime().describe('ISO 8601, UTC');
const maybeTime = time.nullable();
const url = z.string().describe('normalised URL');
const count = z.number().int().nonnegative();
const text = z.string();
const maybeText = z.string().nullable();
const status = z.number().int().describe('HTTP status, 0 = no answer');
const reason = z.string().describe('code of a reason');
const outcome = z.enum(['fetched', 'same', 'moved', 'gone', 'refused', 'failed', 'waiting']);
const bytes = count.describe('bytes');
const sums = z.record(z.string(), count);
/** What differs from run to run and machine to machine. */
const open = z.looseObject({});

const summary = {
  ...{ pages: count, sitemaps: count, images: count },
  ...{ fetched: count, same: count, moved: count, gone: count, refused: count, failed: count },
  ...{ filtered: count, bytes, seconds: z.number(), pagesPerSecond: z.number(), known: count, empty: z.boolean() },
  ...{ servers: count, waiting: count, retries: count, nextRetry: maybeTime, interrupted: z.boolean() },
  ...{ memory: bytes, cpuSeconds: z.number(), reasons: sums },
};
const link = z.strictObject({ url, anchor: text, nofollow: z.boolean() });
/** Where something listens that runs until it is stopped. */
const address = { address: url, port: count };
const bar = z.strictObject({ name: text, count });
const bars = z.array(bar);
const degrees = z.strictObject({ mean: z.number(), most: count, exponent: z.number(), bars });
const visit = { time, outcome, reason, status, stage: maybeText, bytes, ms: count, outpost: text };
const spent = { visits: count, spent: bytes, avoided: bytes };

const freshened = {
  ...{ ...summary, changed: count, newlyGone: count, newlyMoved: count, back: count, new: count },
  ...{ avoided: bytes, left: count },
};

/** By command; those that print a list print one object a line. */
export const schemas: Readonly<Record<string, z.ZodType>> = {
  crawl: z.strictObject(summary),
  demo: z.strictObject({ ...summary, aWeekLater: z.strictObject(summary).optional() }),
  refresh: z.looseObject(freshened),
  watch: z.looseObject(freshened),
  status: z.strictObject({
    ...{ known: count, stored: count, waiting: count, retries: count, servers: count },
    ...{ archiveBytes: bytes, wireBytes: bytes, diskBytes: bytes, weekBytes: bytes, lastVisit: maybeTime },
    notCopied: bytes
      .nullable()
      .describe('bytes of the archive that have no copy elsewhere yet; null = none are made (--archive)'),
    outcomes: z.array(z.strictObject({ outcome, reason, pages: count })),
    refused: sums,
    largest: z.array(z.strictObject({ origin: url, pages: count, notBefore: maybeTime })),
    running: open.nullable(),
    runtime: open,
  }),
  pages: z.strictObject({
    ...{ url, outcome, reason: reason.nullable(), status: status.nullable(), type: maybeText, bytes: bytes.nullable() },
    ...{ depth: count, time: maybeTime, changed: maybeTime, due: maybeTime, title: maybeText },
    ...{ parent: url.nullable(), asciiCount: count.nullable(), lastModified: maybeText },
    ...{ file: maybeText, offset: count.nullable() },
  }),
  seeds: z.strictObject({
    ...{ url, found: time, time: maybeTime, outcome, reason: reason.nullable(), status: status.nullable() },
  }),
  'seeds remove': z.strictObject({ url, removed: z.literal(true) }),
  subscriptions: z.strictObject({
    ...{ server: url, kind: text, url: text, where: text, trouble: text },
    state: z.enum(['telling', 'waiting', 'silent', 'troubled', 'distrusted']),
    ...{ heard: maybeTime, next: maybeTime, lease: maybeTime, notices: count, judged: count, confirmed: count },
    ...{ precision: z.number(), recall: z.number() },
  }),
  changes: z.looseObject({
    ...{ url, time, reason, stage: maybeText, kind: z.enum(['changed', 'new', 'gone', 'moved', 'back', 'template']) },
    ...{ removed: count.nullable(), added: count.nullable(), title: maybeText },
  }),
  history: z.strictObject({
    ...{ ...visit, amount: z.number().nullable(), removed: count.nullable(), added: count.nullable(), cause: text },
    version: count.nullable(),
  }),
  show: z.strictObject({
    url,
    state: text.describe('a sentence for people'),
    details: z.looseObject({
      ...{ server: url.nullable(), parent: url.nullable(), depth: count, found: time, linksToIt: count },
      ...{ title: maybeText, type: maybeText, bytes: bytes.nullable(), etag: maybeText, lastmod: maybeTime },
      ...{ firstVisit: maybeTime, lastVisit: maybeTime, changed: maybeTime, due: maybeTime, movedTo: url.nullable() },
      ...{ segment: count.nullable(), offset: count.nullable(), length: count.nullable() },
    }),
    masks: z.array(open),
    facts: open,
    visits: z.array(z.strictObject(visit)),
  }),
  why: z.looseObject({ url, state: text.describe('a sentence for people'), rule: text, server: open.nullable() }),
  links: z.strictObject({ url, in: z.array(link), out: z.array(link) }),
  cat: z.looseObject({ url, time, status, headers: z.record(z.string(), z.string()), body: text.optional() }),
  diff: z.looseObject({
    url,
    from: z.strictObject({ version: count, time }),
    to: z.strictObject({ version: count, time }),
  }),
  search: z.looseObject({
    query: text,
    total: count,
    behind: count,
    hits: z.array(z.looseObject({ url, time, changed: time, type: text, score: z.number() })),
  }),
  'index status': z.strictObject({ documents: count, behind: count, rebuilding: z.boolean(), fed: z.boolean(), bytes }),
  'index rebuild': z.strictObject({ documents: count, seconds: z.number(), fed: z.boolean() }),
  serve: z.strictObject(address),
  workbench: z.strictObject(address),
  account: z.looseObject({
    causes: z.array(z.strictObject({ cause: text, ...spent })),
    days: z.array(z.looseObject({ day: z.iso.date(), ...spent })),
    servers: z.array(z.strictObject({ origin: url, ...spent })),
  }),
  'notify add': z.looseObject({ name: text, kinds: z.array(text), channel: text }),
  'notify list': z.looseObject({
    ...{ name: text, channel: text, waiting: count, messages: count, sent: maybeTime, failures: count, trouble: text },
  }),
  'notify try': z.looseObject({
    ...{ url, title: text, kind: text, time, why: text, added: count, removed: count },
    ...{ diff: text, counts: z.boolean().describe('whether the rule would have told it') },
  }),
  'notify remove': z.strictObject({ name: text }),
  extract: z.strictObject({
    ...{ format: text, rows: count, gone: count, refused: count, file: maybeText.optional() },
    cursor: text.describe('what --since takes the next time'),
  }),
  export: z.strictObject({ format: text, pages: count, file: maybeText.optional() }),
  ping: z.strictObject({ url, due: maybeTime }),
  verify: z.looseObject({ segments: count, records: count, bytes, digests: count, problems: z.array(z.unknown()) }),
  forget: z.strictObject({ pages: count, copies: count, bytes }),
  backup: z.strictObject({ segments: count, copied: bytes, had: bytes }),
  restore: z.strictObject({ data: text }),
  outposts: z.looseObject({ time: maybeTime, running: z.boolean(), machines: z.array(open) }),
  'outpost invite': z.strictObject({ token: text, host: text, port: count }),
  site: z.strictObject({ ...address, public: url, pages: count, cursor: text }),
  'site status': z.strictObject({
    ...{
      running: z.boolean(),
      public: text,
      ready: z.boolean(),
      pages: count,
      unlisted: count,
      cursor: text,
      first: count,
    },
    ...{ changed: maybeTime, versions: count, versionBytes: bytes, indexNowKey: text, terms: count },
    sources: z.array(z.strictObject({ name: text, pages: count, time: maybeTime, problem: text })),
    subscribers: z.array(z.strictObject({ url: text, expires: time, behind: count, problem: text })),
    told: z.array(z.strictObject({ kind: text, url: text, behind: count, problem: text })),
  }),
  peers: z.strictObject({
    ...{ engine: text, collection: text },
    peers: z.array(
      z.strictObject({
        ...{
          peer: text,
          state: z.enum(['joining', 'working', 'leaving', 'ended', 'silent', 'dead']),
          trouble: maybeText,
        },
        ...{ capacity: z.number().nullable(), share: z.number().describe('part of the partitions, 0 to 1') },
        ...{ partitions: count, servers: count.nullable(), pages: count.nullable(), rate: z.number().nullable() },
        serverShare: z.number().nullable().describe('part of the servers of all peers, 0 to 1'),
        pageShare: z.number().nullable().describe('part of their pages'),
        heartbeats: count.nullable().describe('since its start, one a second'),
        ...{ changelogLag: count.nullable(), exchangeLag: count.nullable(), skein: maybeText },
        exchanged: z
          .array(z.strictObject({ peer: text, sent: count, received: count }))
          .describe('links, since its start'),
      }),
    ),
    partitions: z.array(
      z.strictObject({ partition: count, peer: maybeText, epoch: count, wanted: maybeText.describe('by the ring') }),
    ),
  }),
  'peers leave': z.strictObject({ peer: text, left: z.literal(true) }),
  report: z.strictObject({
    ...{ time, since: maybeTime, urls: count, counts: sums, checks: sums, unchecked: count },
    structure: z.strictObject({
      ...{ pages: count, links: count, in: degrees, out: degrees, depths: bars, types: bars, languages: bars },
      ...{ domains: bars, statuses: bars, sizes: bars, meanBytes: bytes, dynamic: count, components: sums },
    }),
    findings: z.array(
      z.strictObject({
        ...{ check: text, level: z.enum(['error', 'warning', 'notice']), url, time, status, detail: text },
        related: z.array(z.strictObject({ url, anchor: text })),
      }),
    ),
  }),
};

/** docs/json.md. */
export function document(): string {
  const parts = Object.entries(schemas).map(([name, schema]) => {
    const { $schema: _, ...plain } = z.toJSONSchema(schema);
    return `## skein ${name}\n\n\`\`\`json\n${JSON.stringify(plain, null, 1)}\n\`\`\`\n`;
  });
  return `# What --json prints

One JSON object on standard output (of \`export\` and \`extract\` on standard error), or one a line where the answer
is a list (\`pages\`, \`changes\`, \`history\`, \`seeds\`, \`subscriptions\`, \`ping\`, \`notify try\`). Times are ISO 8601 in UTC. The same thing has the same key everywhere: \`url\`, \`time\` (of the last look),
\`changed\`, \`due\`, \`outcome\`, \`reason\` (a code), \`status\` (HTTP), \`type\` (media type), \`bytes\`. \`state\` in \`show\` and
\`why\` is a sentence for people: read \`rule\`, \`outcome\` and \`reason\` instead. These are JSON schemas; a test holds every
command against its own.

${parts.join('\n')}`;
}
