/**
 * Who may come in: the parent's certificate, the invitations that it made and the outposts that used one, as small files
 * in one directory. Files, because invitations are made by another process than the one that listens.
 *
 * A secret is stored as its hash and compared in constant time. A member is known by its key; the token is needed once.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { type Identity, makeIdentity, readIdentity } from '../../errand/keys.ts';
import { commonDomains, domainOf } from '../../errand/scope/scope.ts';
import type { Hello } from '../wire/messages.ts';
import { type Certificate, fingerprintOf, makeCertificate } from './certificate.ts';
import { type Token, writeToken } from './token.ts';

export interface Member {
  readonly key: string;
  readonly name: string;
  readonly servers: readonly string[];
  readonly quotas: Readonly<Record<string, number>>;
  /** Where its invitation said that we are found; absent = it joined before that was noted. */
  readonly address?: { readonly host: string; readonly port: number };
  /** Milliseconds since 1970. */
  readonly joined: number;
  /** False: somebody has to approve it first. */
  readonly approved?: boolean;
  /** When it was shut out for good; absent = it was not. */
  readonly revoked?: number;
}

interface Admitted extends Member {
  /** It was invited for its servers. What its owner names besides only limits it: nobody claims a server for himself. */
  readonly stands: boolean;
}

interface InviteTerms {
  readonly host: string;
  readonly port: number;
  readonly expires: number;
  readonly uses: number;
  readonly servers: readonly string[];
  readonly quotas: Readonly<Record<string, number>>;
  /** Whoever joins with it waits until somebody approves it; default: it does not. */
  readonly approve?: boolean;
}

/** An invitation as people may see it. */
export type Invited = InviteTerms & { readonly id: string; readonly used: number };
type Invitation = Invited & { readonly secret: string };

export class Members {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    for (const part of ['invitations', 'members']) mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
  }

  /** Of the door; made when it is first needed. */
  certificate(): Certificate {
    const file = join(this.#directory, 'door-certificate.json');
    if (!existsSync(file)) writeOnce(file, JSON.stringify(makeCertificate()));
    return JSON.parse(readFileSync(file, 'utf8')) as Certificate;
  }

  /** The key that this machine signs with; made when it is first needed. */
  identity(): Identity {
    const file = join(this.#directory, 'identity.pem');
    if (!existsSync(file)) writeOnce(file, makeIdentity().secret());
    return readIdentity(readFileSync(file, 'utf8'));
  }

  invite(terms: InviteTerms): string {
    const { host, port, expires, uses, quotas } = terms;
    const servers = terms.servers.map(domainOf);
    const id = randomBytes(8).toString('hex');
    const secret = randomBytes(32).toString('base64url');
    const invitation: Invitation = { ...terms, servers, id, secret: hash('sha256', secret), used: 0 };
    this.#save('invitations', id, invitation);
    const fingerprint = fingerprintOf(this.certificate().certificate);
    const token: Token = { host, port, fingerprint, id, secret, expires, uses, servers, quotas };
    return writeToken(token);
  }

  /**
   * Takes in whoever proved the key in `hello`: a member, or a stranger with a good token. Throws 'refused'. What it may
   * visit is what both the invitation and its owner allow.
   */
  admit(hello: Hello, now: number): Admitted {
    const member = this.#member(hello, now);
    const servers = commonDomains(member.servers, hello.servers);
    if (!servers) throw refused(hello, 'its owner allows none of the servers in its invitation');
    return { ...member, servers, stands: member.servers.length > 0 };
  }

  #member(hello: Hello, now: number): Member {
    const known = this.#load<Member>('members', fileOf(hello.key));
    if (known?.revoked) throw refused(hello, 'it was revoked');
    if (known?.approved === false) throw unapproved(known);
    if (known) return known;
    if (hello.token === '') throw refused(hello, 'it is unknown here and has no token');
    const invitation = this.#redeem(hello, now);
    const { servers, quotas, host, port, approve = false } = invitation;
    const name = this.#free(hello.name);
    const terms = { servers, quotas, address: { host, port }, joined: now, approved: !approve };
    const member: Member = { key: hello.key, name, ...terms };
    this.#save('members', fileOf(hello.key), member);
    if (approve) throw unapproved(member);
    return member;
  }

  /** Those who ever joined, the revoked ones too. */
  all(): Member[] {
    return this.#every<Member>('members');
  }

  /** Without their secrets. */
  invitations(): Invited[] {
    return this.#every<Invitation>('invitations').map(({ secret, ...rest }) => rest);
  }

  /** False: nobody has that name. */
  approve(name: string): boolean {
    return this.#change(name, member => ({ ...member, approved: true }));
  }

  limit(name: string, terms: Partial<Pick<Member, 'servers' | 'quotas'>>): boolean {
    const servers = terms.servers?.map(domainOf);
    return this.#change(name, member => ({
      ...member,
      quotas: limitsOnly({ ...member.quotas, ...terms.quotas }),
      ...(servers && { servers }),
    }));
  }

  /** Shuts a member out, or makes an invitation void. */
  revoke(name: string, now: number): boolean {
    const invitation = /^[0-9a-f]{16}$/.test(name) ? this.#load<Invitation>('invitations', name) : undefined;
    if (!invitation) return this.#change(name, member => ({ ...member, revoked: now }));
    rmSync(join(this.#directory, 'invitations', `${name}.json`));
    return true;
  }

  #change(name: string, change: (member: Member) => Member): boolean {
    const member = this.all().find(each => each.name === name);
    if (member) this.#save('members', fileOf(member.key), change(member));
    return member !== undefined;
  }

  #every<T>(part: string): T[] {
    const files = readdirSync(join(this.#directory, part)).filter(name => name.endsWith('.json'));
    return files.map(name => this.#load<T>(part, name.slice(0, -'.json'.length))!);
  }

  #redeem(hello: Hello, now: number): Invitation {
    const [id, secret] = hello.token.split('.');
    const invitation = /^[0-9a-f]{16}$/.test(id ?? '') ? this.#load<Invitation>('invitations', id!) : undefined;
    const expected = Buffer.from(invitation?.secret ?? hash('sha256', 'none'), 'hex');
    const equal = timingSafeEqual(Buffer.from(hash('sha256', secret ?? ''), 'hex'), expected);
    if (!invitation || !equal) throw refused(hello, 'its token is wrong');
    if (invitation.expires < now) throw refused(hello, 'its token has expired');
    if (invitation.used >= invitation.uses) throw refused(hello, 'its token was already used as often as it allows');
    this.#save('invitations', id!, { ...invitation, used: invitation.used + 1 });
    return invitation;
  }

  /** The name that it wishes, with a number where another has it. */
  #free(wish: string): string {
    const plain = wish.replace(/[^\w.-]/g, '-').slice(0, 60) || 'outpost';
    const taken = new Set(this.all().map(member => member.name));
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}-${number}`;
    return name;
  }

  #load<T>(part: string, name: string): T | undefined {
    const file = join(this.#directory, part, `${name}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;
  }

  #save(part: string, name: string, value: unknown): void {
    replaceFile(join(this.#directory, part, `${name}.json`), JSON.stringify(value), PRIVATE);
  }
}

/** Without those of 0, which stand for none. */
export function limitsOnly(quotas: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(quotas).filter(([, most]) => most > 0));
}

/** Where two processes make the same file at once (one invites while the other starts), the first one's stays. */
function writeOnce(file: string, text: string): void {
  const own = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(own, text, { mode: PRIVATE });
  try {
    linkSync(own, file);
  } catch (error) {
    // A file system without links has to do with the last one's.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(own, file);
  }
  rmSync(own, { force: true });
}

/** A key is no name for a file. */
function fileOf(key: string): string {
  return hash('sha256', key).slice(0, 32);
}

/** Not 'refused': it may come again, and does. */
function unapproved({ name }: Member): SkeinError {
  return new SkeinError('internal', `The outpost ${name} needs approval first: skein outpost approve ${name}.`);
}

function refused({ name }: Hello, why: string): SkeinError {
  return new SkeinError(
    'refused',
    `The outpost ${name} is not let in: ${why}.`,
    'Ask for a new one: skein outpost invite.',
  );
}
