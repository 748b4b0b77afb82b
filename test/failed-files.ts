/** A reporter for test/run: the path of each file in which a test failed, one a line. */
import type { TestEvent } from 'node:test/reporters';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.file !== undefined) yield `${data.file}\n`;
  }
}
