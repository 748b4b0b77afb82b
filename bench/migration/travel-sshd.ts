/** `travel-sshd.ts DIRECTORY`: an sshd on loopback for the bench of travelling; prints how to reach it and serves until it is ended. */
import { dirname } from 'node:path';
import { noSshd, openSshd } from '../../test/transfer/sshd.ts';

const missing = noSshd();
if (missing !== '') {
  console.log(JSON.stringify({ missing }));
  process.exit(0);
}
const sshd = await openSshd(process.argv[2]!, { node: dirname(process.execPath) });
const { url, port, command } = sshd;
console.log(JSON.stringify({ url, port, command }));
process.on('SIGTERM', () => void sshd[Symbol.asyncDispose]().then(() => process.exit(0)));
