/** Who caused the bytes on home's line: frames by kind, and what wraps them. */
import { subscribe } from 'node:diagnostics_channel';
import type { LineCrossing } from '../../src/transfer/line.ts';

export type Account = Readonly<Record<string, number>>;

const causes: Readonly<Record<LineCrossing['kind'], string>> = {
  hello: 'greeting',
  welcome: 'greeting',
  bye: 'greeting',
  'want-pass': 'greeting',
  pass: 'greeting',
  errand: 'errands and warrants',
  recall: 'errands and warrants',
  claim: 'errands and warrants',
  code: 'code',
  'want-code': 'code',
  parcel: 'parcels',
  'give-up': 'parcels',
  resend: 'parcels',
  acknowledge: 'acknowledgements',
  forget: 'acknowledgements',
  status: 'status',
  ping: 'pings',
  pong: 'pings',
};

/** Starts counting in this process; the function returned gives what was counted. */
export function openAccount(): () => Account {
  const bytes: Record<string, number> = {};
  subscribe('skein.frame', message => {
    const { kind, bytes: size } = message as LineCrossing;
    const cause = causes[kind];
    bytes[cause] = (bytes[cause] ?? 0) + size;
  });
  return () => bytes;
}

/** Sums of several accounts, with what the kernel counted beyond them: handshakes and headers of TLS, TCP, IP, Ethernet. */
export function printAccount(accounts: readonly Account[], total: number): void {
  const sums: Record<string, number> = {};
  for (const account of accounts) {
    for (const [cause, bytes] of Object.entries(account)) sums[cause] = (sums[cause] ?? 0) + bytes;
  }
  const framed = Object.values(sums).reduce((sum, bytes) => sum + bytes, 0);
  const rows = [...Object.entries({ ...sums, 'TLS, TCP, IP, Ethernet': total - framed })].sort((a, b) => b[1] - a[1]);
  console.log("\nwhat crossed home's link   kB   share");
  for (const [cause, bytes] of rows) {
    const share = `${((100 * bytes) / total).toFixed(1)}%`;
    console.log(`${cause.padEnd(24)}${(bytes / 1000).toFixed(1).padStart(8)}${share.padStart(9)}`);
  }
}
