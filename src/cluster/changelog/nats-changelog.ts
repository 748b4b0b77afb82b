/**
 * Changelogs in NATS JetStream: one subject a partition, and the server's expected-sequence check as the fence. Questions go
 * to the stream's leader: a follower may answer with what was true a moment ago.
 */
import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { SkeinError } from '../../base/errors.ts';
import { CODES, codeOf, isConflict } from '../connection/errors.ts';
import { type Patience, untilItPasses } from '../connection/retry.ts';
import { changelogStream, changelogSubject, type Layout, shardOf } from '../topology/layout.ts';
import { afterConflict, type Changelog, type Logged } from './changelog.ts';
import { type ChangelogEntry, decodeEntry, encodeEntry } from './entry.ts';

interface ChangelogParts {
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly layout: Layout;
}

export function natsChangelog({ jetstream, manager, layout }: ChangelogParts, patience: Patience = {}): Changelog {
  const streamOf = (partition: number) => changelogStream(shardOf(layout, partition));
  const ask = (partition: number, query: { last_by_subj: string } | { seq: number; next_by_subj: string }) =>
    untilItPasses(() => manager.streams.getMessage(streamOf(partition), query), patience);
  const newest = (partition: number) => ask(partition, { last_by_subj: changelogSubject(layout, partition) });
  async function* read(partition: number, after: number, end: number): AsyncIterable<Logged> {
    const subject = changelogSubject(layout, partition);
    for (let seq = after + 1; seq <= end; ) {
      const next = await ask(partition, { seq, next_by_subj: subject });
      if (!next || next.seq > end) return;
      const entry = entryOf(next);
      if (entry) yield { ...entry, sequence: next.seq };
      seq = next.seq + 1;
    }
  }
  const last = async (partition: number): Promise<Logged | undefined> => {
    const message = await newest(partition);
    if (!message) return undefined;
    let entry = entryOf(message);
    // No peer's writing: what was last before it still holds.
    if (!entry) for await (const each of read(partition, 0, message.seq)) entry = each;
    return entry && { ...entry, sequence: message.seq };
  };
  return {
    last,
    async publish(partition, entry, expected) {
      const subject = changelogSubject(layout, partition);
      const bytes = encodeEntry(entry);
      const msgID = idOf(partition, entry);
      for (let expect = expected; ; ) {
        const options = { msgID, expect: { lastSubjectSequence: expect } };
        try {
          const { seq } = await untilItPasses(() => jetstream.publish(subject, bytes, options), patience);
          return seq;
        } catch (error) {
          if (codeOf(error) === CODES.streamFull) throw full(error);
          if (!isConflict(error)) throw error;
        }
        const before = await last(partition);
        const { seq = 0 } = (!before && (await newest(partition))) || {};
        // Nothing of any peer's is there: it goes over what is.
        const found = seq > expect ? { expect: seq } : afterConflict(partition, entry, before, expect);
        if ('there' in found) return found.there;
        expect = found.expect;
      }
    },
    async *read(partition, after) {
      yield* read(partition, after, (await newest(partition))?.seq ?? 0);
    },
  };
}

/** Undefined = no peer wrote it. Changes are numbered, so that nothing is missed where it is passed over. */
function entryOf({ data }: StoredMsg): ChangelogEntry | undefined {
  try {
    return decodeEntry(data);
  } catch (error) {
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

/** By which the server knows a message that comes twice within two minutes. */
function idOf(partition: number, { writer, number, part, parts, time }: ChangelogEntry): string {
  return `${partition}.${writer.peer}.${writer.epoch}.${number}.${part}.${parts}.${time}`;
}

function full(cause: unknown): SkeinError {
  return new SkeinError(
    'no-engine',
    'The engine has no room for more changes.',
    'Give its servers a larger disk (max_file); what this peer has is kept until then.',
    { cause },
  );
}
