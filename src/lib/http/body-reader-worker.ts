/** The thread that long upstream answers are read in, with the functions of the module that it is started with. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../worker-thread.ts';

serveCalls(await import(workerData as string));
