import { setTimeout as sleep } from 'node:timers/promises';
import type { SentResponse } from '../helpers/http-request.ts';
import { ask, askInTurn, describeWaits, TRUSTED } from './bystanders.ts';
import type { FaultContext, Subject } from './context.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples, isRefusal } from './response-faults.ts';

const CHANNEL = 'UCPennantSample00000001A';
/** The requests that one address may send at once. */
const REQUESTS_EACH = 10;

/** Many addresses ask for what is expensive. Bystanders ask for what is cheap, and their wait is measured. */
export const turns: Subject = {
  name: 'turns',
  needsQuiet: true,
  async run(context) {
    if (context.isLong) {
      await context.measure('turns', 'pairs of addresses share their images', () => {
        return floodTheEncoder(context, { addresses: 14, sharedBy: 2, newcomers: 20, withImage: 18 });
      });
    }
    await context.measure('turns', '30 addresses with ten expensive images each', () => {
      return floodTheEncoder(context, { addresses: 30, sharedBy: 1, newcomers: 30, withImage: 27 });
    });
  },
};

interface EncoderFlood {
  readonly addresses: number;
  /** How many addresses ask for the same images. */
  readonly sharedBy: number;
  readonly newcomers: number;
  /** How many newcomers must have their image in time. */
  readonly withImage: number;
}

const IMAGE_WITHIN_MS = 3_000;

async function floodTheEncoder(context: FaultContext, flood: EncoderFlood): Promise<Outcome> {
  const { addresses, sharedBy, newcomers, withImage } = flood;
  const service = await context.start({ env: TRUSTED });
  // The originals are stored, and the encoders have started.
  await Promise.all(['tv.jpg', 'avatar.jpg'].map((image) => ask(service, '192.0.2.1', `/${CHANNEL}/${image}`)));
  const asked: Promise<SentResponse>[] = [];
  for (let address = 0; address < addresses; address += 1) {
    const first = 1_000 + Math.floor(address / sharedBy) * REQUESTS_EACH;
    for (let image = 0; image < REQUESTS_EACH; image += 1) {
      const url = `/${CHANNEL}/tv.avif?quality=95&width=${first + image}`;
      asked.push(ask(service, `10.1.0.${address}`, url));
    }
  }
  await sleep(200);
  const responses = await askInTurn(newcomers, 50, (number) => {
    return ask(service, `10.2.0.${number}`, `/${CHANNEL}/avatar.jpg?width=${16 + number}`);
  });
  const flooding = await Promise.all(asked);
  await context.cleanUpServices();
  const inTime = responses.filter(({ status, tookMs }) => status === 200 && tookMs <= IMAGE_WITHIN_MS).length;
  const made = flooding.filter(({ status }) => status === 200).length;
  const wrong = [...flooding, ...responses].filter((each) => each.status !== 200 && !isRefusal(each));
  const waits = responses.map(({ tookMs }) => tookMs);
  return {
    measured: `${inTime} of ${newcomers} newcomers have their image within 3 s (${describeWaits(waits)}); ${made} of ${asked.length} others made`,
    faults: [...wrong.map(({ status }) => `status ${status}`), ...findEmptySamples({ 'expensive images': made })],
    exceeded: inTime < withImage ? [`fewer than ${withImage} newcomers had their image`] : [],
  };
}
