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
      console.error('\nStopping after the requests in progress. Press again to stop at once.');
      stop();
    });
  }
  return () => asked;
}

/**
 * Resolves at the next Ctrl-C (or SIGTERM), which mean nothing else from now on. Ask before you tell people to press it. The old
 * listeners leave after the new one came: a signal that nobody listens to, however shortly, ends the process.
 */
export function nextSignal(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const before = process.rawListeners(signal) as NodeJS.SignalsListener[];
      process.once(signal, () => resolve());
      for (const listener of before) process.off(signal, listener);
    }
  });
}
