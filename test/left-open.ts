/**
 * Loaded before each test file by test/run. A file whose tests have all ended must end by itself: what it left open (a
 * server, a process, a timer) is named, and the file fails. Node's own --test-force-exit would hide such a leak, and
 * lose the reports that are still on their way: of a thousand quick tests up to eighty were then neither counted nor
 * shown.
 */
import { after } from 'node:test';

/** Milliseconds for hooks and sockets to end in, on a busy machine too. */
const PATIENCE = 30_000;

if (process.env['NODE_TEST_CONTEXT'] !== undefined) after(() => void setTimeout(complain, PATIENCE).unref());

function complain(): void {
  // The pipes to the runner are always open.
  const open = process.getActiveResourcesInfo().filter(name => name !== 'PipeWrap');
  process.stderr.write(`Its tests have ended, and this is still open: ${open.join(', ') || 'a pipe'}.\n`);
  process.exit(1);
}
