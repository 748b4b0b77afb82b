/**
 * Certificates by which sites know us, each shown to the one server that it was given for. They are kept beside the ledger in a
 * file for its owner alone, and not in the ledger, which is copied to other machines.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import type { ClientCertificate, ClientCertificates } from '../../crawler/fetch/tls.ts';

const FILE = 'certificates.json';

/** `directory`: of the partition. */
export function readIdentities(directory: string): ClientCertificates {
  try {
    return JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as ClientCertificates;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new SkeinError('damaged', `${FILE} cannot be read.`, 'Give the certificates again: skein subscriptions.');
  }
}

export function keepIdentity(directory: string, origin: string, identity: ClientCertificate): void {
  check(origin, identity);
  const all = { ...readIdentities(directory), [origin]: identity };
  replaceFile(join(directory, FILE), `${JSON.stringify(all)}\n`, PRIVATE);
}

function check(origin: string, { certificate, key }: ClientCertificate): void {
  if (!origin.startsWith('https:'))
    throw new SkeinError(
      'bad-option',
      `${origin} does not use TLS, so it cannot ask for a certificate.`,
      'Only https servers do.',
    );
  const wrong = (what: string) =>
    new SkeinError('bad-option', what, 'Give PEM files: --certificate SITE=FILE --key FILE.');
  let shown: X509Certificate;
  try {
    shown = new X509Certificate(certificate);
  } catch {
    throw wrong('The certificate cannot be read.');
  }
  try {
    if (shown.checkPrivateKey(createPrivateKey(key))) return;
  } catch {
    throw wrong('The key cannot be read, or has a passphrase.');
  }
  throw wrong('The key is not that of the certificate.');
}
