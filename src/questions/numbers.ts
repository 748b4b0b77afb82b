/**
 * Numbers of pages and visits as they are told to programs. Ids are dense within a partition and mean nothing outside; the
 * number that is told has the partition in it. With one partition both are the same.
 */
export interface Numbering {
  /** Of this partition, and how many there are. */
  readonly id: number;
  readonly partitions: number;
}

export function toldNumber(local: number, { id, partitions }: Numbering): number {
  return local * partitions + id;
}

/** The id within its partition, and which that is. */
export function localNumber(told: number, partitions: number): { readonly local: number; readonly partition: number } {
  return { local: Math.floor(told / partitions), partition: told % partitions };
}
