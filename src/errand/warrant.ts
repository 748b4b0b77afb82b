/**
 * The warrant of an errand: who may run it, and how many levels further it may travel. Home signs it for the outpost
 * that gets the errand; an outpost that passes the errand on adds one signature for the next. Every signature covers
 * the one before it and names the key of the receiver, so nobody can shorten the chain and win a level, use a warrant
 * that was made for another, or change the errand. The number of signatures after home's is the number of levels used.
 */
import { hash } from 'node:crypto';
import { SkeinError } from '../base/errors.ts';
import { ByteReader, ByteWriter } from './codec/bytes.ts';
import { type Identity, isKey, verify } from './keys.ts';

export interface Warrant {
  /** Home's public key. It, the errand's name and the digest do not travel: the receiver knows what they must be. */
  readonly home: string;
  readonly errand: string;
  /** SHA-256 of the packed errand, hexadecimal. */
  readonly digest: string;
  /** Levels that the errand may travel beyond its first receiver. */
  readonly levels: number;
  /** Milliseconds since 1970, home's time. */
  readonly deadline: number;
  /** Receivers in order, each with the signature of the one before it; the first is home's. */
  readonly hops: readonly { readonly key: string; readonly signature: Uint8Array }[];
}

/** More levels than anyone has: a longer chain is an attack. */
const MOST_HOPS = 32;

type WarrantTerms = Omit<Warrant, 'home' | 'digest' | 'hops'> & { readonly bytes: Uint8Array };

/** Home's warrant for the first receiver. */
export function issueWarrant(home: Identity, terms: WarrantTerms, receiver: string): Warrant {
  const { errand, levels, deadline, bytes } = terms;
  const warrant = { home: home.key, errand, digest: hash('sha256', bytes), levels, deadline, hops: [] };
  return { ...warrant, hops: [{ key: receiver, signature: home.sign(firstMessage(warrant, receiver)) }] };
}

/** The warrant for one level further; undefined when it has none left. */
export function extendWarrant(warrant: Warrant, outpost: Identity, receiver: string): Warrant | undefined {
  if (levelsLeft(warrant) < 1) return undefined;
  const last = warrant.hops.at(-1)!;
  const signature = outpost.sign(hopMessage(last.signature, receiver));
  return { ...warrant, hops: [...warrant.hops, { key: receiver, signature }] };
}

/** How many levels the holder may still pass it on. */
export function levelsLeft(warrant: Warrant): number {
  return warrant.levels - (warrant.hops.length - 1);
}

interface WarrantHolder {
  /** Own key, and the key of the home that is obeyed. */
  readonly key: string;
  readonly home: string;
  /** Home's time. */
  readonly now: number;
}

/** Throws 'refused' with the reason unless the holder may run this errand. */
function checkWarrant(warrant: Warrant, now: number): void {
  if (warrant.deadline < now) throw refused('its warrant has expired');
  if (levelsLeft(warrant) < 0) throw refused('it has travelled more levels than home allowed');
  const [first, ...others] = warrant.hops;
  let valid = verify(warrant.home, firstMessage(warrant, first!.key), first!.signature);
  let before = first!;
  for (const hop of others) {
    valid &&= verify(before.key, hopMessage(before.signature, hop.key), hop.signature);
    before = hop;
  }
  if (!valid)
    throw refused('its warrant is not signed by the home of this outpost, or is for another errand or outpost');
}

/** Levels, deadline, home's signature; then for each level travelled the key of who passed it on, and their signature. */
export function encodeWarrant({ levels, deadline, hops }: Warrant): Uint8Array {
  const out = new ByteWriter(512);
  out.varint(levels);
  out.double(deadline);
  for (const [i, { signature }] of hops.entries()) {
    if (i > 0) out.bytes(Buffer.from(hops[i - 1]!.key, 'base64url'));
    out.bytes(signature);
  }
  return out.finish();
}

/** Of a warrant that was read before. */
export function deadlineOf(warrant: Uint8Array): number {
  const from = new ByteReader(warrant);
  from.varint();
  return from.double();
}

interface Carried {
  readonly errand: string;
  readonly warrant: Uint8Array;
  /** The packed errand. */
  readonly bytes: Uint8Array;
}

/** The same without the errand, for whoever has to prove that it was given to them. */
type Claimed = Omit<Carried, 'bytes'> & Pick<Warrant, 'digest'>;

/** The warrant that came with an errand. Throws 'refused' with the reason unless the holder may run this errand. */
export function readWarrant({ errand, warrant, bytes }: Carried, holder: WarrantHolder): Warrant {
  return readClaim({ errand, warrant, digest: hash('sha256', bytes) }, holder);
}

/** Throws 'refused' unless home gave an errand of this name and digest to the holder, itself or through others. */
export function readClaim({ errand, warrant: encoded, digest }: Claimed, holder: WarrantHolder): Warrant {
  const from = new ByteReader(encoded);
  const levels = from.varint();
  const deadline = from.double();
  const signatures = [from.bytes()];
  const keys: string[] = [];
  while (from.left > 0 && signatures.length <= MOST_HOPS) {
    keys.push(Buffer.from(from.bytes()).toString('base64url'));
    signatures.push(from.bytes());
  }
  from.end();
  if (!keys.every(isKey))
    throw new SkeinError('bad-frame', 'A warrant does not decode: its chain of keys is malformed.');
  keys.push(holder.key);
  const hops = signatures.map((signature, i) => ({ key: keys[i]!, signature }));
  const warrant = { home: holder.home, errand, digest, levels, deadline, hops };
  checkWarrant(warrant, holder.now);
  return warrant;
}

function writeTerms(out: ByteWriter, warrant: Omit<Warrant, 'hops'>): void {
  out.text(warrant.home);
  out.text(warrant.errand);
  out.text(warrant.digest);
  out.varint(warrant.levels);
  out.double(warrant.deadline);
}

function firstMessage(warrant: Omit<Warrant, 'hops'>, receiver: string): Uint8Array {
  const out = new ByteWriter(512);
  out.text('skein warrant');
  writeTerms(out, warrant);
  out.text(receiver);
  return out.finish();
}

function hopMessage(before: Uint8Array, receiver: string): Uint8Array {
  const out = new ByteWriter(256);
  out.text('skein hop');
  out.bytes(before);
  out.text(receiver);
  return out.finish();
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `The errand is refused: ${why}.`);
}
