/** The port to a store of objects elsewhere: a bucket, or whatever else can put, give, list and remove bytes by a name. */

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
  /** All whose names begin so, by name. */
  list(prefix: string): Promise<ObjectInfo[]>;
  /** One that is not there is no error. */
  remove(name: string): Promise<void>;
  close(): void;
}
