/** `skein workbench`: the web page to watch and steer, beside whatever runs in the data directory, or nothing. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { WORKBENCH_PORT } from '../../engine/services.ts';
import { feederOf, isFed } from '../../home/indexing/indexing.ts';
import { openWorkbench } from '../../workbench/server.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { paint } from '../print/terminal.ts';

export function addWorkbenchCommand(program: Command): void {
  const command = program
    .command('workbench')
    .option('--listen <address>', `host:port or port (default 127.0.0.1:${WORKBENCH_PORT}); other hosts need TLS`)
    .option('--certificate <file>', 'TLS certificate chain, PEM')
    .option('--key <file>', 'its private key, PEM')
    .option('--json', 'print one JSON object with the address')
    .addHelpText(
      'after',
      `
Examples:
  skein workbench --data ./skein-data
  skein workbench --listen 0.0.0.0:7700 --certificate chain.pem --key key.pem

On loopback everybody on this machine may look; changing something needs the
token in the address that is printed. Elsewhere everything needs the token.`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    openLedger(data).close(); // says in words when there is nothing to show
    const { host, port } = parseListen(String(given['listen'] ?? WORKBENCH_PORT));
    const tls = readTls(given['certificate'] as string | undefined, given['key'] as string | undefined);
    const workbench = await openWorkbench({ directory: data, host, port, version, ...(tls && { tls }) });
    // While no home runs, this process keeps the index up to date; a home has a feeder of its own.
    const feeder = (await isFed(data)) ? undefined : feederOf(data);
    if (given['json']) printJson({ address: workbench.address, port: workbench.port });
    else console.log(`${paint('bold', 'Workbench:')} ${workbench.address}\nStop it with Ctrl-C.`);
    await new Promise(resolve => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
    });
    await feeder?.stop();
    await workbench.close();
  });
}

function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:]+\]|[^:\s]+):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (!match || port > 65_535) {
    throw new SkeinError('bad-option', `"${text}" is not an address to listen on.`, 'Write 7700 or 192.0.2.7:7700.');
  }
  return { host: match[1]?.replace(/[[\]]/g, '') ?? '127.0.0.1', port };
}

function readTls(certificate: string | undefined, key: string | undefined) {
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
  throw new SkeinError('bad-option', `${certificate} and ${key} are no certificate in PEM form and its private key.`);
}

function belongTogether(tls: { certificate: string; key: string }): boolean {
  try {
    return new X509Certificate(tls.certificate).checkPrivateKey(createPrivateKey(tls.key));
  } catch {
    return false; // one of them is something else
  }
}
