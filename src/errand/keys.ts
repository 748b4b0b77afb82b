/** Ed25519 keys as they travel: 32 bytes in base64url for the public half, PKCS #8 for what stays at home. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { SkeinError } from '../base/errors.ts';

export interface Identity {
  /** Public key, base64url of 32 bytes. */
  readonly key: string;
  sign(message: Uint8Array): Uint8Array;
  /** The private key as PEM, to be kept where only its owner reads. */
  secret(): string;
}

export function makeIdentity(): Identity {
  return identityOf(generateKeyPairSync('ed25519').privateKey);
}

export function readIdentity(pem: string): Identity {
  return identityOf(createPrivateKey(pem));
}

function identityOf(privateKey: KeyObject): Identity {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    key: x!,
    sign: message => signBytes(null, message, privateKey),
    secret: () => privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

export function verify(key: string, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === 64 && verifyBytes(null, message, publicKey(key), signature);
}

/** Keys seen lately: making one from its bytes costs as much as checking a signature with it. */
const known = new Map<string, KeyObject>();
const REMEMBERED = 1000;

function publicKey(key: string): KeyObject {
  const found = known.get(key);
  if (found) return found;
  if (!isKey(key)) throw new SkeinError('bad-frame', 'A public key is malformed.');
  const made = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' });
  if (known.size >= REMEMBERED) known.clear();
  known.set(key, made);
  return made;
}

export function isKey(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
