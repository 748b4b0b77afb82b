/**
 * A self-signed certificate for the door that outposts knock at. Nobody is asked to trust its name: the token holds its
 * fingerprint, and an outpost talks to that certificate or to none. Node can check certificates but not make them, so
 * the few structures of X.509 are written here.
 */
import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

const ECDSA_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';

export function makeCertificate(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(identifier(ECDSA_SHA256));
  const name = sequence(der(0x31, sequence(identifier(COMMON_NAME), der(0x0c, Buffer.from('Skein')))));
  // No end: its fingerprint is what is trusted, and an outpost must not fall silent on some day.
  const validity = sequence(moment('20200101000000Z'), moment('99991231235959Z'));
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]); // positive whatever the random bytes are
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const base64 = sequence(body, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** SHA-256 of the certificate, hexadecimal without colons. */
export function fingerprintOf(certificate: string): string {
  return plain(new X509Certificate(certificate).fingerprint256);
}

export function plain(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const identifier = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const integer = (bytes: Uint8Array) => der(0x02, bytes);
const moment = (text: string) => der(0x18, Buffer.from(text));
