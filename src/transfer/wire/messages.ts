/**
 * What the two ends of a line tell each other besides errands and parcels: who they are, how they do. Written as JSON,
 * because people read it in traces and because both ends of different versions must understand the first message.
 * Everything read is checked field by field and cut to size: the other end is trusted with nothing.
 */
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { isContact } from '../../errand/agent.ts';
import { asDomain } from '../../errand/scope/scope.ts';

/** The first message of each end. */
export interface Hello {
  /** PROTOCOL of the sender. */
  readonly protocol: number;
  /** Version of the software, for people. */
  readonly software: string;
  readonly name: string;
  /** The sender's clock, milliseconds since 1970; an outpost works in its parent's time. */
  readonly time: number;
  /** Ed25519 public key of the sender, base64url of the raw 32 bytes. */
  readonly key: string;
  /** Of the parent: random bytes that an outpost signs to prove its key, base64url; empty where nobody asks. */
  readonly challenge: string;
  /** Of the outpost: its signature of the challenge, and a token when it joins for the first time, or a pass. */
  readonly proof: string;
  readonly token: string;
  /** Of the outpost. */
  readonly cores: number;
  /** Pages that it may have under way. */
  readonly room: number;
  /** `linux-x64` … */
  readonly platform: string;
  /** Hosts or domains that it is there for; empty = any. */
  readonly servers: readonly string[];
  /** Errands that it has not finished, or whose parcels were not acknowledged. */
  readonly holding: readonly string[];
}

/** The parent's answer to an outpost that it takes in. */
export interface Welcome {
  /** Home's public key, which warrants begin with. */
  readonly home: string;
  /** Whom the owners of sites may ask: part of the User-Agent, which is otherwise the outpost's own. */
  readonly contact: string;
  /** Hosts or domains that the invitation allows; empty = any. */
  readonly servers: readonly string[];
  /** What the invitation allows in a day; 0 = no limit. */
  readonly pagesADay: number;
  readonly bytesADay: number;
  /** Level of this outpost below home: 1, 2 … */
  readonly level: number;
}

/** How an outpost does. */
export interface OutpostStatus {
  readonly name: string;
  /** `quarantined` is the parent's word, never the outpost's own. */
  readonly state: 'working' | 'full' | 'away' | 'quarantined';
  readonly errands: number;
  /** Visits so far, and a second over the last seconds. */
  readonly pages: number;
  readonly rate: number;
  /** Bytes of parcels sent so far. */
  readonly bytes: number;
  /** Pages named in errands and not visited yet. */
  readonly queue: number;
  /** Parcels on its disk that home has not acknowledged, in bytes. */
  readonly spooled: number;
  readonly errors: number;
  /** The last thing that went wrong, one sentence; empty = nothing. */
  readonly trouble: string;
  /** Pages that may be under way there, those of its own outposts included. */
  readonly room: number;
  /** When it last spoke, in home's time. */
  readonly heard: number;
  readonly outposts: readonly OutpostStatus[];
}

const NAME = 120;
const SENTENCE = 300;
const DOMAIN = 300;
const LIST = 10_000;
/** Characters of a pass, which holds the names of all machines on its way. */
export const LONGEST_PASS = 4000;
/** Levels and children of a status that are looked at. */
const LEVELS = 16;
const CHILDREN = 1000;

export function readHello(text: string): Hello {
  const from = fieldsOf(text);
  return {
    protocol: from.number('protocol'),
    software: from.text('software', NAME),
    name: from.text('name', NAME),
    time: from.number('time'),
    key: from.text('key', NAME),
    challenge: from.text('challenge', NAME),
    proof: from.text('proof', NAME),
    token: from.text('token', LONGEST_PASS),
    cores: from.number('cores'),
    room: from.number('room'),
    platform: from.text('platform', NAME),
    servers: from.domains('servers'),
    holding: from.texts('holding', NAME),
  };
}

export function readWelcome(text: string): Welcome {
  const from = fieldsOf(text);
  return {
    home: from.text('home', NAME),
    contact: from.contact('contact'),
    servers: from.domains('servers'),
    pagesADay: from.number('pagesADay'),
    bytesADay: from.number('bytesADay'),
    level: from.number('level'),
  };
}

/** What the parent takes an outpost for that has said nothing yet. */
export const NO_STATUS: OutpostStatus = {
  ...{ name: '', state: 'working', trouble: '', outposts: [] },
  ...{ errands: 0, pages: 0, rate: 0, bytes: 0, queue: 0, spooled: 0, errors: 0, room: 0, heard: 0 },
};

export type StatusNews = Partial<OutpostStatus>;

/** The fields of a status that differ from those said before. Its name and when it last spoke go without saying. */
export function statusNews(status: OutpostStatus, before: OutpostStatus): StatusNews {
  const { name, heard, ...fields } = status;
  const text = (value: unknown) => JSON.stringify(value, (key, inner) => (key === 'heard' ? undefined : inner));
  const other = ([field, value]: [string, unknown]) => text(value) !== text(before[field as keyof OutpostStatus]);
  return Object.fromEntries(Object.entries(fields).filter(other));
}

export function readNews(text: string): StatusNews {
  const said = parse(text);
  const whole = Object.entries(statusOf(said, LEVELS));
  return Object.fromEntries(whole.filter(([name]) => Object.hasOwn(said as object, name)));
}

function statusOf(value: unknown, levels: number): OutpostStatus {
  const from = new MessageFields(value);
  const state = from.text('state', NAME);
  const outposts = from.list('outposts');
  if (outposts.length > CHILDREN || levels === 0) throw bad('a status is too large');
  return {
    name: from.text('name', NAME),
    state: state === 'full' || state === 'away' ? state : 'working',
    errands: from.number('errands'),
    pages: from.number('pages'),
    rate: from.number('rate'),
    bytes: from.number('bytes'),
    queue: from.number('queue'),
    spooled: from.number('spooled'),
    errors: from.number('errors'),
    trouble: from.text('trouble', SENTENCE),
    room: from.number('room'),
    heard: from.number('heard'),
    outposts: outposts.map(each => statusOf(each, levels - 1)),
  };
}

/** A message of an older or newer version may lack fields: they read as empty, and the version is compared first. */
class MessageFields {
  readonly #from: Record<string, unknown>;

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null) throw bad('a message is not an object');
    this.#from = value as Record<string, unknown>;
  }

  text(name: string, most: number): string {
    const value = this.#from[name] ?? '';
    if (typeof value !== 'string' || value.length > most) throw bad(`"${name}" is not text, or is too long`);
    return harmless(value);
  }

  contact(name: string): string {
    const value = this.#from[name] ?? '';
    if (typeof value !== 'string' || !isContact(value)) throw bad(`"${name}" is not a contact`);
    return value;
  }

  number(name: string): number {
    const value = this.#from[name] ?? 0;
    if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER) {
      throw bad(`"${name}" is not a number`);
    }
    return value;
  }

  list(name: string): readonly unknown[] {
    const value = this.#from[name] ?? [];
    if (!Array.isArray(value) || value.length > LIST) throw bad(`"${name}" is not a list`);
    return value;
  }

  domains(name: string): string[] {
    return this.texts(name, DOMAIN).map(each => {
      const domain = asDomain(each);
      if (domain === undefined) throw bad(`"${name}" holds something that is not a domain`);
      return domain;
    });
  }

  texts(name: string, most: number): string[] {
    return this.list(name).map(each => {
      if (typeof each !== 'string' || each.length > most)
        throw bad(`"${name}" holds something that is not text, or is too long`);
      return each;
    });
  }
}

function fieldsOf(text: string): MessageFields {
  return new MessageFields(parse(text));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad('a message is not JSON'); // what the parser says about hostile bytes helps nobody
  }
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A message does not decode: ${what}.`);
}
