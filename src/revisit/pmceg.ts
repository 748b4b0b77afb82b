/**
 * The arithmetic of the paper on crawlers that migrate in parallel and grow exponentially (PMCEG): how many machines a
 * counter reaches, and how it reckons what migrating saved.
 */

/**
 * Machines below the centre when each has `fanOut` machines below it: the centre sets the counter to `depth`, each level
 * takes one off, and at 0 nobody migrates further.
 */
export function machinesReached(depth: number, fanOut: number): number {
  let machines = 0;
  for (let level = 1; level <= depth; level++) machines += fanOut ** level;
  return machines;
}

/** Per cent by which the second is less: of time, of repeated URLs, of bytes. */
export function benefit(conventional: number, migrating: number): number {
  return conventional === 0 ? 0 : 100 - (migrating / conventional) * 100;
}
