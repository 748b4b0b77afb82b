/** Changelogs in memory, for tests: the shortest thing that keeps the contract. Its answers can be lost. */
import { afterConflict, type Changelog, type Logged } from '../../src/cluster/changelog/changelog.ts';
import { decodeEntry, encodeEntry } from '../../src/cluster/changelog/entry.ts';

export interface MemoryChangelog extends Changelog {
  /** The next so many answers to publish get lost on their way. */
  loseAnswers(count: number): void;
  /** Forgets everything, as an engine that lost its disk. */
  wipe(): void;
}

export function memoryChangelog(): MemoryChangelog {
  const logs = new Map<number, Logged[]>();
  let sequence = 0;
  let lost = 0;
  const of = (partition: number) => logs.get(partition) ?? [];
  const log: MemoryChangelog = {
    loseAnswers: count => void (lost = count),
    wipe: () => {
      logs.clear();
      sequence = 0;
    },
    async publish(partition, entry, expected) {
      const last = of(partition).at(-1);
      if ((last?.sequence ?? 0) !== expected) {
        const found = afterConflict(partition, entry, last, expected);
        return 'there' in found ? found.there : log.publish(partition, entry, found.expect);
      }
      const logged = { ...decodeEntry(encodeEntry(entry)), sequence: ++sequence };
      logs.set(partition, [...of(partition), logged]);
      if (lost-- > 0) throw new Error('the answer is lost');
      return sequence;
    },
    last: async partition => of(partition).at(-1),
    async *read(partition, after) {
      yield* of(partition).filter(each => each.sequence > after);
    },
  };
  return log;
}
