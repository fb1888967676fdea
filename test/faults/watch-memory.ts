import { residentBytes, type ServiceProcess } from '../helpers/process.ts';

const LOOK_EVERY_MS = 100;

/** The peak memory of the service. */
export function watchMemory({ pid }: ServiceProcess): { stop(): Promise<number> } {
  let most = 0;
  async function look(): Promise<void> {
    most = Math.max(most, await residentBytes(pid));
  }
  // The last look rejects if the service has ended.
  const timer = setInterval(() => look().catch(() => undefined), LOOK_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return most;
    },
  };
}
