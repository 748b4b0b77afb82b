/**
 * One connection to the engine. The client is loaded here and nowhere else, so that a crawl without --engine never pays
 * for it. Its settings were measured (docs/decisions/0040): with the client's defaults a frozen server is noticed after
 * 25 s and a lost one for good after ten attempts; with these after 7 s, and never given up.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { EngineAddress } from './address.ts';
import { connectError, oldServerError } from './errors.ts';
import { isTooOld } from './version.ts';

/** Milliseconds. */
const CONNECT_TIMEOUT = 2000;
const RECONNECT_WAIT = 100;
const PING = 2000;

interface ConnectAs {
  /** Shown by the server in its list of connections. */
  readonly name: string;
}

export async function connectTo(address: EngineAddress, { name }: ConnectAs): Promise<NatsConnection> {
  const client = await import('@nats-io/transport-node');
  const { nkey, user, password, ca, cert, key } = address;
  const options: ConnectionOptions = {
    servers: [...address.servers],
    name,
    // Halves the CPU of every request.
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    ...pacedByTicks(),
    pingInterval: PING,
    maxPingOut: 2,
    timeout: CONNECT_TIMEOUT,
    ...(address.tls ? { tls: { ...(ca && { ca }), ...(cert && key && { cert, key }) } } : {}),
    ...(nkey ? { authenticator: client.nkeyAuthenticator(new TextEncoder().encode(nkey)) } : {}),
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
  };
  using sockets = watchSockets(address);
  let connection: NatsConnection;
  try {
    connection = await client.connect(options);
  } catch (error) {
    sockets.destroy();
    throw connectError(error, address.shown);
  }
  const { version = '' } = connection.info ?? {};
  if (!isTooOld(version)) return connection;
  await connection.close();
  throw oldServerError(version, address.shown);
}

/**
 * The client waits between two attempts by the time of day: where somebody sets the clock back by minutes, it would come back as
 * many minutes later. So it is told not to wait, and then how long to, which it does by a timer.
 */
function pacedByTicks(): Pick<ConnectionOptions, 'reconnectDelayHandler' | 'reconnectToServer'> {
  /** When each was dialled last, or will be. */
  const dialled = new Map<string, number>();
  return {
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer: ([server]) => {
      if (!server) return null;
      const now = performance.now();
      const wait = RECONNECT_WAIT * (1 + Math.random()); // many peers do not come back in the same moment
      const at = Math.max(now, (dialled.get(server.listen) ?? Number.NEGATIVE_INFINITY) + wait);
      dialled.set(server.listen, at);
      return { server, delay: at - now };
    },
  };
}

/**
 * The sockets to an engine's servers that are made while this lives. The client forgets one whose server accepts and then
 * says nothing (another program listens there, or the server is frozen): it would keep the process alive for ever.
 */
function watchSockets({ servers }: EngineAddress): Disposable & { destroy(): void } {
  const made = new Set<Socket>();
  const watch = (message: unknown) => made.add((message as { socket: Socket }).socket);
  subscribe('net.client.socket', watch);
  const isEngine = ({ remotePort }: Socket) => servers.some(server => server.endsWith(`:${remotePort}`));
  return {
    destroy: () => {
      for (const socket of made) if (isEngine(socket)) socket.destroy();
    },
    [Symbol.dispose]: () => void unsubscribe('net.client.socket', watch),
  };
}
