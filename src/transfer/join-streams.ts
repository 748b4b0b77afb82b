/** Two one-way streams as one that goes both ways. */
import { Duplex, type Readable, type Writable } from 'node:stream';

export function joinStreams(readable: Readable, writable: Writable): Duplex {
  // Node takes such a pair; its types name only the web's streams here.
  return Duplex.from({ readable, writable } as unknown as Iterable<unknown>);
}
