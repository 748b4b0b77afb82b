/** The first Ctrl-C (or SIGTERM) ends cleanly, the second at once. Returns whether one came. */
export function stopOnSignals(stop: () => void): () => boolean {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130);
      asked = true;
      console.error('\nStopping: what is under way is finished first. Once more to stop at once.');
      stop();
    });
  }
  return () => asked;
}
