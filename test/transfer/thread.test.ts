import { ThreadCarrier } from '../../src/transfer/thread.ts';
import { checkCarrier } from '../contracts/carrier.ts';

checkCarrier('thread', async receiver => {
  const module = new URL('../../src/outpost/workers/thread.ts', import.meta.url);
  const data = { userAgent: 'Skein (test)', agentToken: 'skein' };
  const carrier = new ThreadCarrier({ name: 'thread-1', room: 100, module, data }, receiver);
  return { carrier, close: () => carrier.close() };
});
