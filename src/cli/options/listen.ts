/** Where a command listens for others, and with which certificate. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SkeinError, systemWords } from '../../base/errors.ts';

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `port`; `host` is where it listens when only a port was given. */
export function parseListen(text: string, host = '127.0.0.1'): ListenAddress {
  const match = /^(?:(\[[0-9a-f:]+\]|[^:\s]+):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (!match || port > 65_535) {
    throw new SkeinError('bad-option', `"${text}" is not an address to listen on.`, 'Write 7700 or 192.0.2.7:7700.');
  }
  return { host: match[1]?.replace(/[[\]]/g, '') ?? host, port };
}

/** The same where others come from outside, as to the door of a home: a port alone is open on all addresses. */
export function parseAddress(text: string): ListenAddress {
  return parseListen(text, '0.0.0.0');
}

export function readTls(certificate: string | undefined, key: string | undefined) {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    throw new SkeinError('bad-option', 'TLS needs both --certificate and --key.');
  }
  const [cert, secret] = [certificate, key].map(file => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw new SkeinError('bad-option', `${file} cannot be read: ${systemWords(error)}.`);
    }
  });
  const tls = { certificate: cert!, key: secret! };
  if (belongTogether(tls)) return tls;
  throw new SkeinError('bad-option', `${certificate} and ${key} are not a PEM certificate and its private key.`);
}

function belongTogether(tls: { certificate: string; key: string }): boolean {
  try {
    return new X509Certificate(tls.certificate).checkPrivateKey(createPrivateKey(tls.key));
  } catch {
    return false; // one of them is something else
  }
}
