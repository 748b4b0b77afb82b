/**
 * The process that reads a SQLite file: a thread asks the database, and this one passes questions and answers on. A query
 * cannot be stopped from within, so whoever is tired of waiting kills the process; and it kills itself when nobody is left
 * to wait.
 */
import { Worker } from 'node:worker_threads';

const thread = new Worker(
  new URL(import.meta.url.endsWith('.ts') ? './sqlite-thread.ts' : './sqlite-thread.js', import.meta.url),
  {
    workerData: process.argv[2],
  },
);
thread.on('message', told => process.send!(told));
thread.on('error', error => process.send!({ id: 0, problem: (error as Error).message }, () => process.exit(1)));
process.on('message', asked => thread.postMessage(asked));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
