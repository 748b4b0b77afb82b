/**
 * The crawler is the part that travels. It runs one errand anywhere: robots → pace → fetch → analyse → compare → pack, page by
 * page, and sends parcels as they fill. It requests nothing outside the errand's server and limits, keeps no state between
 * errands except that of its tools, and turns everything that can go wrong into the outcome of a visit.
 *
 * This is one of the two loops of Skein; the other is home's.
 */
import type { Draft } from '../base/draft.ts';
import { originOf } from '../base/url.ts';
import type { Errand } from '../errand/errand.ts';
import type { Known } from '../errand/known.ts';
import type { Parcel } from '../errand/parcel.ts';
import { type Reason, type ReasonCode, reasons } from '../errand/reasons.ts';
import { compileKeep } from '../errand/scope/scope.ts';
import type { Visit } from '../errand/visit.ts';
import { type Agenda, makeAgenda } from './agenda.ts';
import { bodyLimit } from './analysis/sitemaps.ts';
import {
  audited,
  type Concluded,
  conclude,
  crashed,
  type Job,
  missingInstead,
  refuse,
  unasked,
  unusable,
  withCost,
} from './conclude.ts';
import { Deciding } from './deciding.ts';
import { impossibleUrl, MissingPages } from './detect/missing-page.ts';
import { type Manner, mannerOf } from './detect/watched-image.ts';
import { opensPrivate } from './fetch/private-gate.ts';
import type { RequestHook, RequestTerms } from './hooks.ts';
import { effectOf } from './pace/answer-effect.ts';
import type { Turn } from './pace/pace.ts';
import { ParcelBuilder } from './pack/parcels.ts';
import { askPermission, type Permission } from './robots/permission.ts';
import { type Answer, type Ask, type Fetcher, type Page, RECALLED } from './stages.ts';
import type { Tools } from './tools.ts';

/** One errand under way. */
interface ErrandRun extends Job {
  /** Aborts when the errand is recalled, and with `trouble`. */
  readonly signal: AbortSignal;
  /** Aborted when the server is in trouble: walks that wait for a turn would wait for as long as the server asked. */
  readonly trouble: AbortController;
  readonly parcels: ParcelBuilder;
  readonly permission: Permission;
  readonly agenda: Agenda;
  readonly deciding: Deciding;
}

/** Runs the errand. It always ends with a parcel that says done, and never rejects. */
export async function crawl(
  errand: Errand,
  tools: Tools,
  deliver: (parcel: Parcel) => void,
  signal: AbortSignal,
): Promise<void> {
  const parcels = new ParcelBuilder(errand, tools, deliver);
  const permission = await askPermission(errand, tools, signal);
  if (!permission) return parcels.finish();
  parcels.news(permission.news);
  const trouble = new AbortController();
  const run: ErrandRun = {
    errand,
    tools,
    signal: AbortSignal.any([signal, trouble.signal]),
    trouble,
    parcels,
    permission,
    agenda: makeAgenda(errand),
    deciding: new Deciding(tools.decider),
    keep: compileKeep(errand.scope.keep),
    missing: new MissingPages(errand.server.missing),
  };
  run.agenda.sitemaps(permission.news?.sitemaps ?? []);
  await Promise.all(Array.from({ length: walksFor(errand.server) }, () => walk(run)));
  await run.deciding.idle();
  parcels.finish();
}

/**
 * One walk per connection. Walks share the agenda, so a slow page delays only one of them. Without a pace there are two: one
 * uses the connection while the other analyses a page. Turns keep them within the number of connections.
 */
function walksFor({ connections, pace }: Errand['server']): number {
  return Math.max(1, connections) * (pace === 0 ? 2 : 1);
}

async function walk(run: ErrandRun): Promise<void> {
  for (;;) {
    if (run.signal.aborted || run.tools.clock.now() > run.errand.deadline) return;
    const known = run.agenda.next();
    if (!known) {
      const more = run.agenda.more();
      if (!more) return;
      await more;
      continue;
    }
    const concluded = await visit(run, known);
    if (!concluded) return run.agenda.end();
    const decided = run.deciding.ask(known, concluded);
    if (decided) await run.deciding.aside(decided.then(asWanted => packAndLearn(run, known, asWanted)));
    else packAndLearn(run, known, concluded);
    if (isServerTrouble(concluded.visit)) {
      run.agenda.end();
      return run.trouble.abort();
    }
  }
}

/** The last stages of a visit: it goes into a parcel, and its links may be followed. */
function packAndLearn({ parcels, agenda, tools }: ErrandRun, known: Known, concluded: Concluded): void {
  pack(parcels, known, concluded);
  // Its members are written, so nobody reads the body again.
  if (concluded.kept) tools.fetcher.reuse?.(concluded.kept.response.body);
  agenda.learn(concluded.visit);
  if (tools.decider?.over || tools.requests?.over) agenda.end();
}

/** Packing reads what a server sent, so it may fail as well. */
function pack(parcels: ParcelBuilder, known: Known, concluded: Concluded): void {
  try {
    parcels.add(concluded);
  } catch {
    // The page is not stored, and the visit says so. The cause is a bug, which the reason `crashed` reveals.
    parcels.add(crashed(known, concluded));
  }
}

/** The rest of the errand would fail likewise: home decides when the server is tried again. */
function isServerTrouble(visit: Visit): boolean {
  const reason: Reason | undefined = reasons[visit.reason as ReasonCode];
  return visit.outcome === 'failed' && reason?.server === true;
}

/** Visits one page; undefined = the errand was recalled before its turn. */
async function visit(run: ErrandRun, known: Known): Promise<Concluded | undefined> {
  const { tools, errand, permission } = run;
  // Robots, pace and permission hold for one server: a page of another server in the errand has none of them.
  const strange = originOf(known.url) !== errand.server.origin;
  const refusal = strange ? 'out-of-scope' : permission.refusal(known.url);
  if (refusal) return refuse(known, refusal, tools.clock.now());
  const terms = tools.requests && (await termsOf(tools.requests, known));
  if (terms === 'failed') return unasked(known, tools.clock.now());
  if (terms?.skip) return refuse(known, 'skipped', tools.clock.now());
  const concluded = await look(run, known, mannerOf(errand, known), terms);
  if (concluded?.resized) return withBytes(run, known, concluded, terms);
  if (concluded?.suspect) return unmask(run, known, concluded);
  const audit = concluded?.visit.status === 304 && known.role === 'page' && Math.random() < errand.server.auditShare;
  const whole = audit ? await look(run, known, 'whole', terms) : undefined;
  return concluded && whole ? audited(known, concluded, whole) : concluded;
}

/** What hooks want of the request; whoever runs them says why they failed. */
async function termsOf(hook: RequestHook, known: Known): Promise<RequestTerms | 'failed' | undefined> {
  const { url, role, depth, facts } = known;
  try {
    return await hook.before({ url, role, depth, first: facts === undefined });
  } catch {
    return 'failed';
  }
}

/** The headers of an image differ from what is known: fetches the image itself. */
async function withBytes(
  run: ErrandRun,
  known: Known,
  headers: Concluded,
  terms: RequestTerms | undefined,
): Promise<Concluded | undefined> {
  const whole = await look(run, known, 'whole', terms);
  return whole && withCost(whole, headers.visit.cost);
}

/** Requests the page when its turn comes. */
async function look(
  run: ErrandRun,
  known: Known,
  manner: Manner,
  terms?: RequestTerms,
): Promise<Concluded | undefined> {
  const { tools, errand, permission } = run;
  const turn = await tools.pace.turn(errand.server.origin, permission.terms, run.signal);
  if (!turn) return undefined;
  const ask = askFor(run, known, manner, turn);
  const answer = await (terms ? fetchBy(tools.fetcher, ask, terms) : tools.fetcher.fetch(ask));
  // The server is done, though we are not: the next request leaves while we analyse this page.
  turn.done(effectOf(answer, tools.clock.now()));
  if (answer.kind === 'failure' && answer.reason === RECALLED) return undefined;
  await allTaken();
  return settle(run, known, answer, manner);
}

/** Fetches with the header lines of a hook; secrets among them are not stored with the page. */
async function fetchBy(fetcher: Fetcher, ask: Ask, { headers, accept }: RequestTerms): Promise<Answer> {
  const answer = await fetcher.fetch({ ...ask, headers, ...(accept !== undefined && { accept }) });
  if (answer.kind === 'failure' || headers.length === 0) return answer;
  const head = Buffer.from(answer.requestHead).toString('latin1');
  const bare = head.replace(/^((?:proxy-)?authorization|cookie|x-api-key):.*\r$/gim, '$1: (not stored)\r');
  return { ...answer, requestHead: Buffer.from(bare, 'latin1') };
}

let taking: Promise<void> | undefined;

/**
 * Resolves when every answer that has come is taken off its connection and the next request is sent there. Pages are analysed
 * after that, one after the other: so the server gets its requests together, and wakes once for them.
 */
function allTaken(): Promise<void> {
  taking ??= new Promise(resolve => {
    setImmediate(() => {
      taking = undefined;
      resolve();
    });
  });
  return taking;
}

/** The page looks like the server's not-found page: fetches that page, once per server, and compares the two. */
async function unmask(run: ErrandRun, known: Known, concluded: Concluded): Promise<Concluded> {
  const { missing } = run;
  missing.looking ??= lookForMissing(run, known, concluded.page!);
  await missing.looking;
  return missing.has(concluded.page!) ? missingInstead(known, concluded) : concluded;
}

async function lookForMissing(run: ErrandRun, known: Known, page: Page): Promise<void> {
  const url = impossibleUrl(known.url);
  if (run.permission.refusal(url)) return;
  const probed = await look(run, { url, role: 'page', depth: known.depth, hops: 0, tries: 0 }, 'whole');
  // Any answer but a page with status 200 is as it should be.
  if (!probed || probed.visit.outcome === 'failed') return;
  run.missing.learn(probed.page, { page, before: known.facts });
  const { up, down } = probed.visit.cost;
  run.parcels.news({ ...run.permission.about, robotsBytes: up + down, missing: run.missing.print! });
}

/** Analysis reads hostile bytes: a bug that they trigger must cost one page, not the errand. */
function settle(run: ErrandRun, known: Known, answer: Answer, manner: Manner): Concluded | Promise<Concluded> {
  // The reason names it; whoever wants to know the cause can fetch the page again.
  const failed = () => unusable(known, run.tools.clock.now(), answer);
  try {
    const concluded = conclude(run, known, answer, manner);
    return concluded instanceof Promise ? concluded.catch(failed) : concluded;
  } catch {
    return failed();
  }
}

function askFor(run: ErrandRun, known: Known, manner: Manner, departure: Turn): Ask {
  const { limits, server } = run.errand;
  const conditional = manner === 'conditional';
  const { url } = known;
  const allowPrivate = opensPrivate(server, url);
  const ask: Draft<Ask> = { url, maxBytes: bodyLimit(known, limits), allowPrivate, departure };
  if (manner === 'head') ask.method = 'HEAD';
  if (conditional && known.etag !== undefined) ask.etag = known.etag;
  if (conditional && known.lastModified !== undefined) ask.lastModified = known.lastModified;
  if (known.role === 'image') ask.accept = 'image/*';
  return ask;
}
