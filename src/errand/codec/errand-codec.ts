/**
 * The encoding of an errand, both directions side by side. PROTOCOL (errand.ts) is its version. Decoding checks every
 * length against what is there and every word against its list, so a hostile sender gets a 'bad-frame' and nothing
 * else.
 */
import type { Draft } from '../../base/draft.ts';
import type { Errand, Keep, Limits, Scope, ServerTerms } from '../errand.ts';
import type { Known } from '../known.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import {
  pick,
  readList,
  readOptional,
  readRobots,
  readTexts,
  writeOptional,
  writeRobots,
  writeTexts,
} from './codec-parts.ts';

const roles: readonly Known['role'][] = ['page', 'sitemap', 'image'];
const kinds: readonly Errand['kind'][] = ['explore', 'refresh'];

export function encodeErrand(errand: Errand): Uint8Array {
  const out = new ByteWriter();
  out.text(errand.id);
  out.byte(kinds.indexOf(errand.kind));
  writeTerms(out, errand.server);
  out.varint(errand.pages.length);
  for (const known of errand.pages) writeKnown(out, known);
  writeScope(out, errand.scope);
  writeLimits(out, errand.limits);
  out.varint(errand.levels);
  out.text(errand.detector);
  out.double(errand.deadline);
  out.bytes(errand.seen ?? new Uint8Array());
  out.text(errand.code ?? '');
  return out.finish();
}

export function decodeErrand(bytes: Uint8Array): Errand {
  const from = new ByteReader(bytes);
  const errand: Errand = {
    id: from.text(),
    kind: pick(kinds, from.byte()),
    server: readTerms(from),
    pages: readList(from, 8, readKnown),
    scope: readScope(from),
    limits: readLimits(from),
    levels: from.varint(),
    detector: from.text(),
    deadline: from.double(),
  };
  const seen = from.bytes();
  const code = from.text();
  from.end();
  return { ...errand, ...(seen.length > 0 && { seen }), ...(code !== '' && { code }) };
}

function writeTerms(out: ByteWriter, terms: ServerTerms): void {
  out.text(terms.origin);
  writeRobots(out, terms.robots);
  out.varint(Math.round(terms.pace));
  out.varint(terms.connections);
  out.double(terms.notBefore);
  out.byte(
    (terms.allowPrivate ? 1 : 0) |
      (terms.trustValidators ? 2 : 0) |
      (terms.missing ? 4 : 0) |
      (terms.anyPrivate ? 8 : 0),
  );
  out.double(terms.auditShare);
  if (terms.missing) out.bytes(terms.missing);
}

function readTerms(from: ByteReader): ServerTerms {
  const origin = from.text();
  const robots = readRobots(from);
  const pace = from.varint();
  const connections = from.varint();
  const notBefore = from.double();
  const bits = from.byte();
  const auditShare = from.double();
  return {
    origin,
    pace,
    connections,
    notBefore,
    allowPrivate: (bits & 1) !== 0,
    trustValidators: (bits & 2) !== 0,
    auditShare,
    ...(robots && { robots }),
    ...(bits & 4 && { missing: from.bytes() }),
    ...(bits & 8 && { anyPrivate: true }),
  };
}

export function writeKnown(out: ByteWriter, known: Known): void {
  out.text(known.url);
  out.byte(roles.indexOf(known.role));
  out.varint(known.depth);
  out.varint(known.hops);
  out.varint(known.tries);
  writeOptional(out, known);
}

export function readKnown(from: ByteReader): Known {
  const url = from.text();
  const role = pick(roles, from.byte());
  const depth = from.varint();
  const hops = from.varint();
  const tries = from.varint();
  const known: Draft<Known> = { url, role, depth, hops, tries };
  readOptional(from, known);
  return known;
}

function writeScope(out: ByteWriter, scope: Scope): void {
  writeTexts(out, scope.domains);
  writeTexts(out, scope.include);
  writeTexts(out, scope.exclude);
  writeTexts(out, scope.focus);
  out.byte(scope.images ? 1 : 0);
  const { keep } = scope;
  writeTexts(out, keep.extensions);
  writeTexts(out, keep.types);
  writeTexts(out, keep.paths);
  writeTexts(out, keep.languages);
  writeTexts(out, keep.keywords);
  out.varint(keep.minBytes);
  out.varint(keep.maxBytes);
}

function readScope(from: ByteReader): Scope {
  const domains = readTexts(from);
  const include = readTexts(from);
  const exclude = readTexts(from);
  const focus = readTexts(from);
  const images = from.byte() === 1;
  const keep: Keep = {
    extensions: readTexts(from),
    types: readTexts(from),
    paths: readTexts(from),
    languages: readTexts(from),
    keywords: readTexts(from),
    minBytes: from.varint(),
    maxBytes: from.varint(),
  };
  return { domains, include, exclude, focus, keep, ...(images && { images }) };
}

function writeLimits(out: ByteWriter, limits: Limits): void {
  for (const value of [limits.pages, limits.follow, limits.depth, limits.bodyBytes, limits.time]) out.varint(value);
}

function readLimits(from: ByteReader): Limits {
  return {
    pages: from.varint(),
    follow: from.varint(),
    depth: from.varint(),
    bodyBytes: from.varint(),
    time: from.varint(),
  };
}
