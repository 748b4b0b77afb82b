/**
 * A cgroup for each cage, where the system lets this process make one (version 2, delegated to its user, or as root): the
 * system counts all memory of all processes in it, whatever it is taken by, and ends them together. Where there is none, the
 * limits of each process (cage-start.ts) are what holds.
 *
 * A group that has processes cannot share its controllers out, so this process first moves to a group beside the cages. It
 * does that only where it is alone: what else runs there is not ours to move.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Where this process goes to make room, and how groups of cages are called: with the process that made them. */
const ASIDE = 'skein-itself';
const CAGE = /^skein-cage-(\d+)-\d+$/;
/** Node has some fifteen threads. */
const MOST_THREADS = 64;
/** How often the end of a group is tried, and milliseconds in between. */
const TRIES = 10;
const AGAIN = 200;

interface GroupNeeds {
  /** Controllers without which a group is of no use, and those that are welcome. */
  readonly needed: readonly string[];
  readonly welcome: readonly string[];
}

const NEEDS: GroupNeeds = { needed: ['memory'], welcome: ['pids'] };

/** The directory in which groups of cages can be made; undefined = there is none. */
export function findGroups({ needed, welcome }: GroupNeeds = NEEDS): string | undefined {
  try {
    const here = ownGroup();
    if (here === undefined) return undefined;
    const parent = basename(here) === ASIDE ? dirname(here) : here;
    const given = words(join(parent, 'cgroup.controllers'));
    if (!needed.every(each => given.includes(each))) return undefined;
    share(
      parent,
      [...needed, ...welcome].filter(each => given.includes(each)),
    );
    sweep(parent);
    return parent;
  } catch {
    return undefined; // not delegated to us, or not writable: the limits of each process hold
  }
}

/** The group of this process, as a directory; undefined = the system has no such groups. */
function ownGroup(): string | undefined {
  const path = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  const mount = /^\S+ \S+ \S+ (\/\S*) (\/\S*) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'));
  if (path === undefined || !mount) return undefined;
  return join(mount[2]!, relative(mount[1]!, path));
}

function share(parent: string, controllers: readonly string[]): void {
  const file = join(parent, 'cgroup.subtree_control');
  const missing = controllers.filter(each => !words(file).includes(each));
  if (missing.length === 0) return;
  const order = missing.map(each => `+${each}`).join(' ');
  try {
    writeFileSync(file, order);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    moveAside(parent);
    writeFileSync(file, order);
  }
}

/** With the process that started this one in its place, where the system's Node is too old. */
function moveAside(parent: string): void {
  const inside = words(join(parent, 'cgroup.procs'));
  const ours = [`${process.pid}`, `${process.ppid}`];
  if (!inside.every(each => ours.includes(each))) throw new Error('others are in this group');
  mkdirSync(join(parent, ASIDE), { recursive: true });
  for (const pid of inside) writeFileSync(join(parent, ASIDE, 'cgroup.procs'), pid);
}

/** What a process left that was killed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const maker = CAGE.exec(name)?.[1];
    if (maker !== undefined && !existsSync(`/proc/${maker}`)) endGroup(join(parent, name));
  }
}

let made = 0;

/** A new group with this much memory, in bytes, and none beside it. Whoever writes 0 into its `cgroup.procs` is in it. */
export function makeGroup(parent: string, memory: number): string | undefined {
  const group = join(parent, `skein-cage-${process.pid}-${crypto.getRandomValues(new Uint16Array(1))[0]}${made++}`);
  try {
    mkdirSync(group);
    const limits = { 'memory.max': memory, 'memory.swap.max': 0, 'memory.oom.group': 1, 'pids.max': MOST_THREADS };
    for (const [file, value] of Object.entries(limits))
      if (existsSync(join(group, file))) writeFileSync(join(group, file), `${value}`);
    return group;
  } catch {
    return undefined; // the limits of the process hold
  }
}

/** Ends whatever is in it. The group itself goes once all of them have ended: soon, or with a sweep. */
export function endGroup(group: string, tries = TRIES): void {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1');
  } catch {
    // an older system; whoever started it ends it by its process group
  }
  try {
    rmdirSync(group);
  } catch {
    // They are about to end.
    if (tries > 0 && existsSync(group)) setTimeout(endGroup, AGAIN, group, tries - 1).unref();
  }
}

function words(file: string): string[] {
  return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
}
