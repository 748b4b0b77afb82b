/** Makes a self-signed certificate for tests of TLS, so that neither a key in the repository nor openssl is needed. */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Valid for the DNS names and the IPv4 or IPv6 loopback addresses given. */
export function makeCertificate(names: readonly string[], notAfter = '20991231235959Z'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, oid('2a8648ce3d040302')); // ECDSA with SHA-256
  const name = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from('skein test')))));
  const validity = der(0x30, time('20200101000000Z'), time(notAfter));
  const alternatives = der(0x30, ...names.map(alternative));
  const authority = der(0x30, der(0x01, Buffer.from([0xff])));
  const extensions = der(
    0x30,
    der(0x30, oid('551d11'), der(0x04, alternatives)),
    der(0x30, oid('551d13'), der(0x04, authority)),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1 + Math.floor(Math.random() * 100), 7])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const base64 = der(0x30, body, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string) => der(0x18, Buffer.from(text));

function alternative(name: string): Buffer {
  if (name === '127.0.0.1') return der(0x87, Buffer.from([127, 0, 0, 1]));
  if (name === '::1') return der(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])]));
  return der(0x82, Buffer.from(name));
}
