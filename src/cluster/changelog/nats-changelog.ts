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
  const ask = async (partition: number, query: { last_by_subj: string } | { seq: number; next_by_subj: string }) => {
    const found = await untilItPasses(() => manager.streams.getMessage(streamOf(partition), query), patience);
    return found ? loggedOf(found) : undefined;
  };
  const last = (partition: number) => ask(partition, { last_by_subj: changelogSubject(layout, partition) });
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
        const found = afterConflict(partition, entry, await last(partition), expect);
        if ('there' in found) return found.there;
        expect = found.expect;
      }
    },
    async *read(partition, after) {
      const end = (await last(partition))?.sequence ?? 0;
      const subject = changelogSubject(layout, partition);
      for (let seq = after + 1; seq <= end; ) {
        const next = await ask(partition, { seq, next_by_subj: subject });
        if (!next || next.sequence > end) return;
        yield next;
        seq = next.sequence + 1;
      }
    },
  };
}

function loggedOf({ data, seq }: StoredMsg): Logged {
  return { ...decodeEntry(data), sequence: seq };
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
