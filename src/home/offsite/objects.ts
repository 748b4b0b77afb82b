/** The port to an object store elsewhere: a bucket, or anything else that can put, get, list and remove bytes by name. */

export interface ObjectInfo {
  readonly name: string;
  readonly bytes: number;
}

export interface ObjectStore {
  /** As a person would name it; holds no secret. */
  readonly address: string;
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Fills `into` from `offset` on; returns how many bytes there were, undefined = there is no such object. */
  get(name: string, offset: number, into: Uint8Array): Promise<number | undefined>;
  /** All objects whose names begin so, ordered by name. */
  list(prefix: string): Promise<ObjectInfo[]>;
  /** Removing an object that is not there is no error. */
  remove(name: string): Promise<void>;
  close(): void;
}
