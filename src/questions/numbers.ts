/**
 * Public numbers of pages and visits. Ids are dense within a partition and mean nothing outside it; a public number contains
 * the partition. With one partition both are the same.
 */
export interface Numbering {
  /** Of this partition, and how many there are. */
  readonly id: number;
  readonly partitions: number;
}

export function toldNumber(local: number, { id, partitions }: Numbering): number {
  return local * partitions + id;
}

/** The partition of a public number, and the id within it. */
export function localNumber(told: number, partitions: number): { readonly local: number; readonly partition: number } {
  return { local: Math.floor(told / partitions), partition: told % partitions };
}
