/**
 * A standing outpost for the benches: `outpost.ts DIRECTORY TOKEN NAME [listen host:port]`; serves until it is ended. Says
 * when it is ready, and when it has met its parent.
 */
import { availableParallelism } from 'node:os';
import { systemClock } from '../../src/base/clock.ts';
import { version } from '../../src/base/version.ts';
import { joinParent, StandingOutpost } from '../../src/outpost/standing-outpost.ts';

const [directory, token, name, listen] = process.argv.slice(2) as [string, string, string, string | undefined];
let met = false;
const say = (text: string) => {
  if (!met && text.startsWith('Serving')) console.log('met its parent');
  met ||= text.startsWith('Serving');
};
joinParent({ directory, token, name, servers: [], allowPrivate: true, ceilings: { pace: 0 } }, 0);
const outpost = new StandingOutpost({
  ...{ directory, software: version, threads: Math.min(2, availableParallelism()), spoolBytes: 1e9 },
  ...{ clock: systemClock, say },
  // A loaded machine must not cost pages: what is measured is bytes, and the time of those that do arrive.
  outpost: { timeouts: { connect: 60_000, firstByte: 60_000 } },
  backOff: { first: 100, longest: 300 },
  ...(listen && { listen: { host: listen.split(':')[0]!, port: Number(listen.split(':')[1]) } }),
});
console.log('ready');
process.on('SIGTERM', () => void outpost.stop().then(() => process.exit(0)));
await outpost.run();
