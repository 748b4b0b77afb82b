/** How far something is that takes long: on a terminal one line that moves, elsewhere a line every ten seconds. */

const TERMINAL = { first: 300, every: 200 };
const ELSEWHERE = { first: 10_000, every: 10_000 };

interface CountingOptions {
  /** Nothing is told. */
  readonly quiet?: boolean;
  readonly stream?: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly ticks?: () => number;
}

/** Told of a count as often as one likes; with `ended` the line goes. */
export function counting(
  words: (count: number) => string,
  { quiet = false, stream = process.stderr, ticks = () => performance.now() }: CountingOptions = {},
): (count: number, ended?: boolean) => void {
  const terminal = stream.isTTY === true;
  const { first, every } = terminal ? TERMINAL : ELSEWHERE;
  let next = ticks() + first;
  let drawn = false;
  return (count, ended = false) => {
    if (drawn && terminal && ended) stream.write('\r\u001b[2K');
    if (quiet || ended || ticks() < next) return;
    next = ticks() + every;
    drawn = true;
    stream.write(terminal ? `\r\u001b[2K${words(count)}` : `${words(count)}\n`);
  };
}
