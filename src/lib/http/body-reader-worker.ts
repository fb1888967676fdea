/** The thread that reads long upstream responses with the functions of the given module. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../worker-thread.ts';

serveCalls(await import(workerData as string));
