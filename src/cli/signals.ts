/** What scripts see of a run that did not come to its end: `skein crawl … && next` must not go on. */
export const INTERRUPTED = 130;
/** Nothing came of it. */
export const FAILED = 1;

/** The first Ctrl-C (or SIGTERM) ends cleanly, the second at once. Returns whether one came. */
export function stopOnSignals(stop: () => void): () => boolean {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(INTERRUPTED);
      asked = true;
      console.error('\nStopping: what is under way is finished first. Once more to stop at once.');
      stop();
    });
  }
  return () => asked;
}
