/**
 * The outpost that its parent starts through ssh: frames on standard input and output. It lives as long as its line, and
 * may be the parent of others that ssh reaches from here. When home takes leave it removes everything that it brought. When the line breaks it ends its errands, keeps what home has
 * not acknowledged for a while, and removes that too when nobody comes back for it.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { availableParallelism, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { makeIdentity } from '../errand/keys.ts';
import { greetParent } from '../transfer/entry/greeting.ts';
import { joinStreams } from '../transfer/join-streams.ts';
import type { Branch } from '../transfer/ssh/machine-tree.ts';
import { Below } from './machines-below.ts';
import { OWN_MACHINE } from './owner/ceilings.ts';
import { OutpostService } from './service.ts';

interface StdioOptions {
  /** Where the code lies; removed at the end unless `kept`. */
  readonly root: string;
  readonly kept: boolean;
  /** Names the spool, so that the next connection of the same home finds it. */
  readonly spool: string;
  /** What of the line was read together with the code. */
  readonly leftover: Uint8Array;
  readonly software: string;
  /** Machines to go on to. */
  readonly below: readonly Branch[];
}

/** Milliseconds that undelivered parcels wait for their home to come back. */
const LINGER = 600_000;
const SPOOL_BYTES = 1 << 30;

/** Called by the loader. */
export async function start(options: StdioOptions): Promise<void> {
  const directory = join(options.kept ? options.root : tmpdir(), `skein-spool-${options.spool}`);
  const claim = takeOver(directory);
  const station = new OutpostService({
    directory: join(directory, 'parcels'),
    name: hostname(),
    software: options.software,
    identity: makeIdentity(),
    threads: availableParallelism(),
    spoolBytes: SPOOL_BYTES,
    servers: [],
    ceilings: OWN_MACHINE,
    allowPrivate: true, // whoever may log in here may also connect from here
    trustRobots: true,
    code: { trusted: true, own: false },
    clock: systemClock,
  });
  const clean = () => {
    if (!options.kept) rmSync(options.root, { recursive: true, force: true });
  };
  const { software, spool, below: branches } = options;
  const below = new Below({ branches, station, software, spool });
  try {
    below.open();
    const greeted = await greetParent(openStream(options.leftover), station, station.words());
    await below.welcome(greeted.answer);
    const serving = station.serve(greeted);
    below.tell();
    const { said } = await serving;
    if (said === 'done') below.stop();
    else await below.leave();
    clean();
    if (said !== 'done') await linger(station, claim);
  } catch (error) {
    console.error((error as Error).message); // standard error is what the other end shows
  }
  clean();
  await station.close();
  if (claim.ours()) rmSync(directory, { recursive: true, force: true });
  process.exit(0);
}

/** Standard output as a socket: process.stdout would block this thread whenever the line is slow. */
function openStream(leftover: Uint8Array): Duplex {
  const output = new Socket({ fd: 1, readable: false, writable: true });
  if (leftover.length > 0) process.stdin.unshift(leftover);
  return joinStreams(process.stdin, output);
}

interface DirectoryClaim {
  ours(): boolean;
}

/** The newest process of a home owns its spool; an older one that notices leaves without touching it. */
function takeOver(directory: string): DirectoryClaim {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  if (process.getuid && (found.uid !== process.getuid() || !found.isDirectory() || (found.mode & 0o022) !== 0)) {
    throw new SkeinError('refused', `${directory} belongs to another user, or other users can write to it.`);
  }
  const file = join(directory, 'owner');
  const mark = `${process.pid} ${Date.now()}`;
  writeFileSync(file, mark);
  return { ours: () => existsSync(file) && readFileSync(file, 'utf8') === mark };
}

async function linger(station: OutpostService, claim: DirectoryClaim): Promise<void> {
  await station.recall();
  const until = systemClock.ticks() + LINGER;
  while (claim.ours() && station.spool.errands.size > 0 && systemClock.ticks() < until) await systemClock.sleep(1000);
}
