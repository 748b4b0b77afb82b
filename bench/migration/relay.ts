/**
 * `relay.ts HOST COUNT FIRST TARGET [ms]`: passes connections to HOST at ports FIRST … FIRST + COUNT − 1 on to the same ports
 * of TARGET, each byte delayed by so many milliseconds. The recorded sites answer on loopback only.
 */
import { connect, createServer, type Socket } from 'node:net';

const [host, count, first, target, delay = '0'] = process.argv.slice(2) as [string, string, string, string, string?];

function pass(from: Socket, to: Socket): void {
  const later = (work: () => void) => (delay === '0' ? work() : setTimeout(work, Number(delay)));
  from.on('data', data => later(() => to.destroyed || to.write(data)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy()); // the other end hears of it
}

for (let port = Number(first); port < Number(first) + Number(count); port++) {
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    const other = connect({ host: target, port, noDelay: true, allowHalfOpen: true });
    pass(socket, other);
    pass(other, socket);
  });
  await new Promise<void>(resolve => server.listen(port, host, resolve));
}
console.log('ready');
