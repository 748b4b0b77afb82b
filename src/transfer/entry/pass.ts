/**
 * A pass: home's leave for one outpost, two or more levels down, to deliver its parcels at home's door itself. It says
 * where the door is and which certificate it shows, is signed by home for the key of that outpost, and lasts a minute.
 * The outposts that hand it on have no use for it: whoever shows it must prove that key. It opens the door for parcels
 * and nothing else (direct-lines.ts).
 */
import { SkeinError } from '../../base/errors.ts';
import { ByteWriter } from '../../errand/codec/bytes.ts';
import { type Identity, verify } from '../../errand/keys.ts';
import type { Address } from '../websocket.ts';

export interface Pass extends Address {
  /** The outpost and those between home and it: `a/b/c`. */
  readonly path: string;
  /** Milliseconds since 1970, home's time. */
  readonly expires: number;
}

const PREFIX = 'pass1.';

/** Home's pass for the outpost that holds this public key. */
export function issuePass(home: Identity, pass: Pass, receiver: string): string {
  const signature = Buffer.from(home.sign(messageOf(pass, receiver))).toString('base64url');
  return PREFIX + Buffer.from(JSON.stringify({ ...pass, signature })).toString('base64url');
}

export function isPass(text: string): boolean {
  return text.startsWith(PREFIX);
}

interface PassHolder {
  /** Public keys of whoever shows it and of the home that must have signed it. */
  readonly key: string;
  readonly home: string;
  /** Home's time. */
  readonly now: number;
}

/** Throws 'refused' with the reason unless home gave it to the holder, and not long ago. */
export function readPass(text: string, { key, home, now }: PassHolder): Pass {
  const { signature, ...pass } = parse(text);
  if (!verify(home, messageOf(pass, key), Buffer.from(signature, 'base64url'))) {
    throw refused('it is not signed by this home, or is for another outpost');
  }
  if (pass.expires < now) throw refused('it has expired');
  return pass;
}

function parse(text: string): Pass & { readonly signature: string } {
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString()) ?? {};
  } catch {
    throw refused('it does not decode'); // what the parser says about hostile bytes helps nobody
  }
  const { host, port, fingerprint, path, expires, signature } = given;
  const texts = [host, fingerprint, path, signature].every(each => typeof each === 'string');
  if (!texts || !Number.isInteger(port) || !Number.isFinite(expires)) throw refused('it does not decode');
  return { host, port, fingerprint, path, expires, signature } as Pass & { signature: string };
}

function messageOf({ host, port, fingerprint, path, expires }: Pass, receiver: string): Uint8Array {
  const out = new ByteWriter(512);
  out.text('skein pass');
  for (const text of [host, String(port), fingerprint, path, String(expires), receiver]) out.text(text);
  return out.finish();
}

function refused(why: string): SkeinError {
  return new SkeinError('refused', `A pass is refused: ${why}.`);
}
