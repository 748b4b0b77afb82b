/**
 * Whose each partition is, computed from the living peers alone: by the ring, or by highest random weight (`hrw`).
 *
 * A partition is a large thing, and a peer has few of them: plain hashing of ten partitions per peer would give some peer
 * half as much again as its share. So a peer takes at most BOUND times its share, and what is beyond goes to the next
 * nearest. The price: when peers come or go, a few partitions may also move between old ones (test/cluster/ring measures how few).
 */
import { pointOf } from './points.ts';
import { Ring, type RingMember } from './ring.ts';

export type AssignMethod = 'ring' | 'hrw';

/** A peer holds at most so many times its ideal share of the partitions, rounded up. */
const BOUND = 1.1;

/** The peer of each partition, by number; undefined while no peer has any capacity. */
export function assign(
  partitions: number,
  members: readonly RingMember[],
  method: AssignMethod = 'ring',
  bound: number = BOUND,
): readonly (string | undefined)[] {
  const able = members.filter(({ capacity }) => capacity > 0);
  const total = able.reduce((sum, { capacity }) => sum + capacity, 0);
  const room = new Map(able.map(({ name, capacity }) => [name, Math.ceil((bound * partitions * capacity) / total)]));
  const choose = method === 'hrw' ? byWeight(able) : byRing(able);
  return Array.from({ length: partitions }, (_, partition) => {
    const owner = choose(`partition ${partition}`, name => room.get(name)! > 0);
    if (owner !== undefined) room.set(owner, room.get(owner)! - 1);
    return owner;
  });
}

type Choose = (key: string, hasRoom: (name: string) => boolean) => string | undefined;

function byRing(members: readonly RingMember[]): Choose {
  const ring = new Ring(members);
  return (key, hasRoom) => ring.nearest(pointOf(key), hasRoom);
}

/**
 * Highest random weight: each peer draws a number for the key, −capacity / ln(u), and the highest wins. Balanced to the
 * sampling noise and exactly contravariant; costs one draw per peer and key, which suits a few hundred peers.
 */
function byWeight(members: readonly RingMember[]): Choose {
  return (key, hasRoom) => {
    let best: string | undefined;
    let highest = Number.NEGATIVE_INFINITY;
    for (const { name, capacity } of members) {
      if (!hasRoom(name)) continue;
      const drawn = (Number(pointOf(`${name}\n${key}`) >> 11n) + 0.5) / 2 ** 53;
      const score = -capacity / Math.log(drawn);
      if (score > highest || (score === highest && name < best!)) {
        highest = score;
        best = name;
      }
    }
    return best;
  };
}
