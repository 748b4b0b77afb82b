/**
 * Which partition of a collection a page belongs to. All pages of one host (with its port, where that is not the usual
 * one) are in one partition. Every ledger and every peer of a cluster relies on this function: changing it would move
 * pages away from where they are stored.
 */
import { fingerprint } from './url.ts';

/** Partitions that a collection may have. */
export const MOST_PARTITIONS = 4096;

const print = { high: 0, low: 0 };

/** `host` as `URL.host` gives it: `example.org` or `example.org:8080`. Partitions are numbered from 0. */
export function partitionOf(host: string, partitions: number): number {
  if (partitions === 1) return 0;
  const { high, low } = fingerprint(host, print);
  // The 64 bits modulo `partitions`, without leaving the exact range of a double.
  return ((high % partitions) * (2 ** 32 % partitions) + (low % partitions)) % partitions;
}

/** The same for a normalised URL or an origin. */
export function partitionOfUrl(url: string, partitions: number): number {
  return partitions === 1 ? 0 : partitionOf(hostAndPort(url), partitions);
}

/** What `URL.host` says, of a normalised URL or an origin. */
function hostAndPort(url: string): string {
  const start = url.indexOf('//') + 2;
  const slash = url.indexOf('/', start);
  return slash < 0 ? url.slice(start) : url.slice(start, slash);
}
