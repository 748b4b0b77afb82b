/**
 * Metadata of media files, read beside the site: in a process that may read files and has no network, one file at a time,
 * within limits of time and memory. A file that breaks them has no metadata, and takes none from those that wait.
 */
import { AskedProcess, moduleHere } from './asked-process.ts';
import type { MediaQuestion } from './media-thread.ts';

/** What the reading of one file may take. */
interface MediaLimits {
  readonly seconds: number;
  readonly megabytes: number;
}

const LIMITS: MediaLimits = { seconds: 20, megabytes: 512 };
const GRANTED = ['--permission', '--allow-fs-read=*', '--allow-worker'];

export const mediaEndings: ReadonlySet<string> = new Set([
  ...['.jpg', '.jpeg', '.tif', '.tiff', '.heic', '.png'],
  ...['.mp3', '.m4a', '.flac', '.ogg', '.opus', '.wav', '.pdf'],
]);

export class MediaMetadata {
  readonly #seconds: number;
  readonly #process: AskedProcess;
  #queue: Promise<unknown> = Promise.resolve();

  constructor({ seconds, megabytes } = LIMITS) {
    this.#seconds = seconds;
    this.#process = new AskedProcess({ thread: moduleHere('media-thread'), data: '', megabytes, granted: GRANTED });
  }

  /** Texts of these fields; none of a file that its library cannot read. */
  of(file: string, fields: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const question: MediaQuestion = { file, fields };
    const limit = { seconds: this.#seconds, late: 'it takes too long' };
    const answer = this.#queue.then(() => this.#process.ask(question, limit)).catch(() => ({})) as Promise<
      Readonly<Record<string, string>>
    >;
    this.#queue = answer;
    return answer;
  }

  close(): void {
    this.#process.end('it is closed');
  }
}
