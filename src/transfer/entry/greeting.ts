/**
 * How a line begins. The parent says hello with a challenge; the outpost answers with its own hello, which proves its
 * key; the parent compares versions, asks whether it may come in, and says welcome or why not. Nothing else is read
 * before that, and only small frames.
 */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { SkeinError } from '../../base/errors.ts';
import { PROTOCOL } from '../../errand/errand.ts';
import { type Identity, verify } from '../../errand/keys.ts';
import { Line, type LineOptions } from '../line.ts';
import { type ByeCode, type Frame, LARGEST_FRAME } from '../wire/frames.ts';
import type { Hello, Welcome } from '../wire/messages.ts';

/** Milliseconds for the whole greeting. */
const PATIENCE = 15_000;
/** The list of errands held is what makes a hello large. */
const LARGEST_GREETING = 2 << 20;

export interface Speaker {
  readonly name: string;
  readonly software: string;
  readonly identity: Identity;
  /** Home's time as far as known. */
  now(): number;
  /** For tests of what happens between versions. */
  readonly protocol?: number;
}

export interface Greeted<T> {
  readonly line: Line;
  readonly hello: Hello;
  readonly answer: T;
}

const nothing = {
  challenge: '',
  proof: '',
  token: '',
  cores: 0,
  room: 0,
  platform: '',
  servers: [],
  holding: [],
} as const;

/** The parent's side. `admit` says what the outpost is welcomed with, or throws 'refused'. */
export async function greetOutpost(
  stream: Duplex,
  self: Speaker,
  admit: (hello: Hello) => Welcome | Promise<Welcome>,
  options: LineOptions = {},
): Promise<Greeted<Welcome>> {
  const line = new Line(stream, { ...options, largest: LARGEST_GREETING });
  const challenge = randomBytes(32).toString('base64url');
  const heard = expect(line, 'hello');
  line.send({ kind: 'hello', hello: { ...nothing, ...introduce(self), challenge } });
  try {
    const { hello } = await heard('hello');
    compareVersions(self, hello, 'outpost');
    if (!verify(hello.key, proofMessage(challenge, self.identity.key), Buffer.from(hello.proof, 'base64url'))) {
      throw new SkeinError('refused', `${hello.name} cannot prove its key.`);
    }
    const welcome = await admit(hello);
    line.send({ kind: 'welcome', welcome });
    line.trust(LARGEST_FRAME);
    return { line, hello, answer: welcome };
  } catch (error) {
    throw dismiss(line, error);
  }
}

export type OutpostWords = Pick<Hello, 'token' | 'cores' | 'room' | 'platform' | 'servers' | 'holding'>;

/** The outpost's side. */
export async function greetParent(
  stream: Duplex,
  self: Speaker,
  words: OutpostWords,
  options: LineOptions = {},
): Promise<Greeted<Welcome>> {
  const line = new Line(stream, { ...options, largest: LARGEST_GREETING });
  const heard = expect(line, 'welcome');
  try {
    const { hello } = await heard('hello');
    compareVersions(self, hello, 'parent');
    const proof = Buffer.from(self.identity.sign(proofMessage(hello.challenge, hello.key))).toString('base64url');
    line.send({ kind: 'hello', hello: { ...nothing, ...introduce(self), ...words, proof } });
    const { welcome } = await heard('welcome');
    line.trust(LARGEST_FRAME);
    return { line, hello, answer: welcome };
  } catch (error) {
    throw dismiss(line, error);
  }
}

function introduce(self: Speaker): Pick<Hello, 'protocol' | 'software' | 'name' | 'time' | 'key'> {
  const { software, name, identity } = self;
  return { protocol: self.protocol ?? PROTOCOL, software, name, time: self.now(), key: identity.key };
}

/** The parent's key is part of it, so that a parent in the middle cannot use the proof elsewhere. */
function proofMessage(challenge: string, parent: string): Uint8Array {
  return Buffer.from(`skein proof ${challenge} ${parent}`);
}

function compareVersions(self: Speaker, other: Hello, who: string): void {
  const own = self.protocol ?? PROTOCOL;
  if (other.protocol === own) return;
  throw new SkeinError(
    'version-mismatch',
    `The ${who} ${other.name} speaks protocol ${other.protocol} (Skein ${other.software}), ` +
      `${self.name} speaks protocol ${own} (Skein ${self.software}): install the newer version on ` +
      `${other.protocol < own ? other.name : self.name}.`,
  );
}

type ExpectedFrame<K extends Frame['kind']> = Extract<Frame, { kind: K }>;

/** Reads one frame after another; each must be of the kind expected. What follows the last is for others to read. */
function expect(line: Line, last: Frame['kind']): <K extends Frame['kind']>(kind: K) => Promise<ExpectedFrame<K>> {
  const arrived: Frame[] = [];
  let over = false;
  let failure: SkeinError | undefined;
  let wake = () => {};
  const timer = setTimeout(() => line.destroy('the greeting took too long'), PATIENCE);
  line.listen({
    frame: frame => {
      if (over) line.keep(frame);
      else arrived.push(frame);
      over ||= frame.kind === last;
      wake();
    },
    ended: (_, why, said) => {
      failure = new SkeinError(codeOf(said), said ? why : `The connection ended during the greeting: ${why}.`);
      wake();
    },
  });
  return async kind => {
    while (arrived.length === 0 && !failure) {
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
    const frame = arrived.shift();
    clearTimeout(timer);
    if (!frame) throw failure!;
    if (frame.kind !== kind) throw new SkeinError('bad-frame', `Expected a frame "${kind}", got "${frame.kind}".`);
    return frame as ExpectedFrame<typeof kind>;
  };
}

function codeOf(said: ByeCode | undefined): 'refused' | 'version-mismatch' | 'bad-frame' | 'internal' {
  return said === undefined || said === 'done' || said === 'later' ? 'internal' : said;
}

/** Tells the other end why, and hands the error on. */
function dismiss(line: Line, error: unknown): unknown {
  const code = error instanceof SkeinError ? error.code : 'internal';
  const known: readonly string[] = ['refused', 'version-mismatch', 'bad-frame'];
  line.bye(known.includes(code) ? (code as ByeCode) : 'later', (error as Error).message.slice(0, 300));
  return error;
}
