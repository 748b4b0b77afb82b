/** Versions of nats-server, as it names them: `2.10.27`, `2.12.0-RC.1`. */
import { LEAST_SERVER } from './errors.ts';

export function isTooOld(version: string, least: string = LEAST_SERVER): boolean {
  const have = numbersOf(version);
  const want = numbersOf(least);
  if (!have || !want) return true;
  for (const [i, number] of have.entries()) if (number !== want[i]) return number < want[i]!;
  return false;
}

function numbersOf(version: string): [number, number, number] | undefined {
  const parts = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(version);
  return parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3])] : undefined;
}
