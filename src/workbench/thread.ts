/** The workbench in a thread of the home it shows. Says where it is; ends when told to. */
import { parentPort, workerData } from 'node:worker_threads';
import { openWorkbench, type WorkbenchOptions } from './server.ts';

export type ThreadNews = { readonly address: string } | { readonly failure: string };

const say = (news: ThreadNews) => parentPort!.postMessage(news);
try {
  const workbench = await openWorkbench(workerData as WorkbenchOptions);
  parentPort!.once('message', async () => {
    await workbench.close();
    parentPort!.close();
    process.exit(0);
  });
  say({ address: workbench.address });
} catch (error) {
  say({ failure: (error as Error).message });
}
