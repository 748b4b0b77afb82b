/**
 * Where the engine is and how a peer shows that it may use it, in one text that fits a flag and a settings file:
 *
 *   nats://a,b:4223,c
 *   tls://a,b,c?ca=/etc/skein/ca.pem&cert=/etc/skein/peer.pem&key=/etc/skein/peer.key&nkey=/etc/skein/peer.nk
 *
 * Secrets are named by their files, so that no list of processes shows them; `nats://user:password@a` works for trials.
 */
import { readFileSync } from 'node:fs';
import { SkeinError, systemWords } from '../../base/errors.ts';

export interface EngineAddress {
  /** `host:port` each; at least one. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  /** Contents of PEM files. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Seed of an nkey, `SU…`. */
  readonly nkey?: string;
  readonly user?: string;
  readonly password?: string;
  /** For people: the servers, without secrets. */
  readonly shown: string;
}

const PORT = 4222;
const MOST_SERVERS = 32;
const FILES = ['ca', 'cert', 'key', 'nkey', 'password'] as const;
const FORM = 'Write it as nats://host1,host2,host3 (port 4222 unless you add one).';

const bad = (message: string, hint: string = FORM) => new SkeinError('bad-option', message, hint);

/** Reads what a user wrote; the files that it names are read here, once. */
export function readEngineAddress(text: string): EngineAddress {
  const parts = /^(nats|tls):\/\/(?:([^@/?]*)@)?([^@/?]*)\/?(?:\?(.*))?$/s.exec(text.trim());
  if (!parts) throw bad(`The engine's address ${JSON.stringify(hideSecrets(text))} cannot be read.`);
  const [, scheme, login, hosts = '', query = ''] = parts;
  const servers = hosts.split(',').map(host => readServer(host.trim()));
  if (servers.length > MOST_SERVERS) throw bad(`An engine's address names at most ${MOST_SERVERS} servers.`);
  const named = readFiles(new URLSearchParams(query));
  const [user, password] = readLogin(login, named.password);
  if ((named.cert === undefined) !== (named.key === undefined))
    throw bad('A certificate and its key belong together.', 'Name both: ?cert=FILE&key=FILE.');
  if (named.nkey !== undefined && !/^SU[A-Z2-7]{56}$/.test(named.nkey))
    throw bad('The file of nkey= has no user seed.', 'A seed is one line of 58 letters that begins with SU.');
  if (named.nkey !== undefined && user !== undefined)
    throw bad('Use an nkey, or a user and password, not both.', 'Omit one of them.');
  const { password: _, ...files } = named;
  return {
    ...files,
    ...(user === undefined ? {} : { user, password: password ?? '' }),
    servers,
    tls: scheme === 'tls' || named.ca !== undefined || named.cert !== undefined,
    shown: `${scheme}://${servers.join(',')}`,
  };
}

function readServer(host: string): string {
  const parts = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(host);
  const port = Number(parts?.[2] ?? PORT);
  if (!parts || port < 1 || port > 65_535)
    throw bad(
      host === '' ? 'The engine has no address.' : `${JSON.stringify(host)} is not the address of a NATS server.`,
    );
  return `${parts[1]}:${port}`;
}

function readFiles(query: URLSearchParams): Partial<Record<(typeof FILES)[number], string>> {
  const found: Partial<Record<(typeof FILES)[number], string>> = {};
  for (const [name, path] of query) {
    const known = FILES.find(other => other === name);
    if (!known)
      throw bad(`An engine's address has no parameter ${JSON.stringify(name)}.`, `It may have: ${FILES.join(', ')}.`);
    found[known] = readWhole(name, path);
  }
  return found;
}

/** A first line is enough for a seed or a password; PEM files are whole. */
function readWhole(name: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw bad(`The engine's ${name}=${path} cannot be read: ${systemWords(error)}.`, 'Name an existing file.');
  }
  if (name === 'password') return text.split('\n', 1)[0]!;
  if (name === 'nkey') return /^\s*(SU\w+)\s*$/m.exec(text)?.[1] ?? '';
  if (!text.includes('-----BEGIN '))
    throw bad(`The file ${path} is not a PEM file, which ${name}= needs.`, 'Name a PEM file.');
  return text;
}

function readLogin(login: string | undefined, filed: string | undefined): [string | undefined, string | undefined] {
  if (login === undefined) {
    if (filed !== undefined) throw bad('A password=FILE needs a user.', 'Write nats://user@host?password=FILE.');
    return [undefined, undefined];
  }
  const [user = '', ...rest] = login.split(':');
  const written = rest.length > 0 ? rest.join(':') : undefined;
  try {
    return [decodeURIComponent(user), filed ?? (written === undefined ? undefined : decodeURIComponent(written))];
  } catch {
    throw bad('The user or password of the engine is not URL-escaped.', 'Write % as %25 and @ as %40.');
  }
}

/** What stands before the @ is nobody's business. */
function hideSecrets(text: string): string {
  return text.slice(0, 200).replace(/\/\/[^/]*@/, '//…@');
}
