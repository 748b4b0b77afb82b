/** How long a server takes to answer, and how long it is left alone for that. */
interface Latency {
  /** Milliseconds, smoothed, and its usual value. */
  latency: number;
  usual: number;
}

const LONGEST_REST = 30_000;

/** Smoothed over about five answers; the usual value follows down at once and up slowly. */
export function learnLatency(server: Latency, ms: number): void {
  server.latency = server.latency === 0 ? ms : server.latency + (ms - server.latency) / 5;
  const { latency, usual } = server;
  server.usual = usual === 0 || latency < usual ? latency : usual + (latency - usual) / 100;
}

/** As long as an answer takes, up to four times that for a server twice as slow as usual. */
export function restOf(server: Readonly<Latency>): number {
  const { latency, usual } = server;
  const slower = usual > 0 ? Math.min(latency / usual - 1, 1) : 0;
  return Math.min(latency * (1 + 3 * slower), LONGEST_REST);
}
