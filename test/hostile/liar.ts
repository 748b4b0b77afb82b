/**
 * A hostile outpost. It joins with a token as any outpost does and speaks the real protocol, but what it answers errands
 * with is made up. As a program: `node test/hostile/liar.ts <token>` brings a false page for every page that it is asked for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Errand } from '../../src/errand/errand.ts';
import type { Known } from '../../src/errand/known.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { greetParent, type OutpostWords } from '../../src/transfer/entry/greeting.ts';
import { readToken } from '../../src/transfer/entry/token.ts';
import type { Line } from '../../src/transfer/line.ts';
import { dial } from '../../src/transfer/websocket.ts';
import type { Frame } from '../../src/transfer/wire/frames.ts';
import { PageTables, UNKNOWN_PAGES } from '../../src/transfer/wire/page-table.ts';
import { packSent, Recent, unpackErrand } from '../../src/transfer/wire/parcel-format.ts';
import type { Sent, SentPage } from '../../src/transfer/wire/wire-visit.ts';
import { makeSpeaker } from '../transfer/places.ts';

/** What it does with an errand. */
export type Lie = (errand: Errand, tongue: Tongue) => void | Promise<void>;

export interface Tongue {
  readonly line: Line;
  /** Sends a parcel of the errand: packed from records, or bytes as they are. */
  parcel(sent: Sent | Uint8Array, done?: boolean): void;
}

export interface Liar extends AsyncDisposable {
  readonly line: Line;
  /** Resolves when home has ended an errand, with its name. */
  forgotten(): Promise<string>;
  /** Why the line ended, if it did. */
  ended: string | undefined;
}

export async function startLiar(
  name: string,
  token: string,
  lie: Lie,
  more: Partial<OutpostWords> = {},
): Promise<Liar> {
  const { host, port, fingerprint, id, secret } = readToken(token);
  const directory = mkdtempSync(join(tmpdir(), 'skein-liar-'));
  const tables = new PageTables(directory);
  const words = { cores: 1, room: 4096, platform: 'linux-x64', servers: [], holding: [], ...more };
  const stream = await dial({ host, port, fingerprint });
  const speaker = makeSpeaker(name);
  const { line } = await greetParent(stream, speaker, { token: `${id}.${secret}`, ...words });
  const ends: string[] = [];
  let wake = () => {};
  const liar: Liar = {
    line,
    ended: undefined,
    async forgotten() {
      while (ends.length === 0 && liar.ended === undefined) await new Promise<void>(resolve => (wake = resolve));
      return ends.shift() ?? '';
    },
    async [Symbol.asyncDispose]() {
      line.destroy('it has lied enough');
      tables.save();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  line.listen({
    frame(frame: Frame) {
      if (frame.kind === 'errand') void answer(frame.errand, frame.bytes, { line, tables, lie });
      if (frame.kind !== 'forget') return;
      tables.end(frame.errand);
      ends.push(frame.errand);
      wake();
    },
    ended(_, why) {
      liar.ended = why;
      wake();
    },
  });
  return liar;
}

interface Mouth {
  readonly line: Line;
  readonly tables: PageTables;
  readonly lie: Lie;
}

async function answer(id: string, bytes: Uint8Array, { line, tables, lie }: Mouth): Promise<void> {
  let errand: Errand;
  try {
    errand = unpackErrand(bytes, tables);
  } catch {
    line.send({ kind: 'give-up', errand: id, why: UNKNOWN_PAGES });
    return;
  }
  tables.begin(errand);
  const shelf = { errand, recent: new Recent(), stored: () => undefined };
  let sequence = 0;
  await lie(errand, {
    line,
    parcel(sent, done = true) {
      const packed = sent instanceof Uint8Array ? sent : packSent(sent, shelf);
      line.send({ kind: 'parcel', errand: id, sequence: sequence++, done, visits: 1, by: '', bytes: packed });
    },
  });
}

/** A visit of a page as an honest outpost would report it. */
export function visitOf({ url, depth }: Pick<Known, 'url' | 'depth'>, more: Partial<Visit> = {}): Visit {
  return {
    ...{ url, time: Date.now(), outcome: 'fetched', reason: 'ok', status: 200, stage: 'first', depth, retryAfter: 0 },
    cost: { up: 200, down: 2000, cause: 'page', ms: 10 },
    ...more,
  };
}

export function pageOf(html: string, more: Partial<SentPage> = {}): SentPage {
  const body = Buffer.from(html);
  return {
    ...{ protocol: 'http/1.1', address: '127.0.0.1', truncated: '' },
    requestHead: Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
    head: Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
    ...more,
  };
}

export const FORGED = 'Geese never migrate; they take the train.';

/** A false page for each that is named. */
export const forgeAll: Lie = ({ pages }, { parcel }) => {
  const page = pageOf(`<!doctype html><title>${FORGED}</title><p>${FORGED}`);
  parcel({ visits: pages.map(known => ({ visit: visitOf(known), page })) });
};

if (import.meta.main) await startLiar('liar', process.argv[2] ?? '', forgeAll);
