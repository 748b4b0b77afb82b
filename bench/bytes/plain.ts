/** What a plain client does: asks for every page every day, with validators or without. */
import http from 'node:http';
import type { Replay, Traffic } from './replay.ts';

const CONNECTIONS = 8;

export class PlainClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #tags = new Map<string, { etag?: string; modified?: string }>();
  readonly #conditional: boolean;

  constructor(conditional: boolean) {
    this.#conditional = conditional;
  }

  async day(replay: Replay, day: number): Promise<Traffic> {
    await replay.setDay(day);
    const urls = [...replay.urlsOf(day)];
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        for (let url = urls.pop(); url !== undefined; url = urls.pop()) await this.#get(url);
      }),
    );
    return replay.traffic();
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The recorded servers close connections that idle, sometimes just when one is used again: then it is asked anew. */
  #get(url: string): Promise<void> {
    const known = this.#conditional ? this.#tags.get(url) : undefined;
    const headers: Record<string, string> = {
      'user-agent': 'plain client (+https://example.org/bench)',
      accept: 'text/html,*/*;q=0.8',
      'accept-encoding': 'gzip',
    };
    if (known?.etag) headers['if-none-match'] = known.etag;
    if (known?.modified) headers['if-modified-since'] = known.modified;
    return new Promise((resolve, reject) => {
      http
        .get(url, { agent: this.#agent, headers }, response => {
          const { etag, 'last-modified': modified } = response.headers;
          if (response.statusCode === 200) {
            this.#tags.set(url, { ...(etag && { etag }), ...(modified && { modified }) });
          }
          response.on('end', resolve).on('error', reject).resume();
        })
        .on('error', error => (isReset(error) ? this.#get(url).then(resolve, reject) : reject(error)));
    });
  }
}

function isReset(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNRESET';
}
