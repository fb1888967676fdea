import { join } from 'node:path';
import { catalogLine, importLines, writePictures } from '../test/helpers/catalog.ts';
import { numberedChannelId } from '../test/helpers/fake-source.ts';
import { type ServiceProcess, startService } from '../test/helpers/process.ts';
import type { BenchPicture } from './pictures.ts';

export interface PhotoService extends ServiceProcess {
  /** The address of a picture's crop, with `variant.format` and any parameters behind the last slash. */
  urlOf(picture: BenchPicture, rest: string): string;
}

/** The service with a catalog whose channels have these pictures as banners, free to use every core. */
export async function startPhotoService(
  directory: string,
  pictures: readonly BenchPicture[],
  env: Readonly<Record<string, string>> = {},
): Promise<PhotoService> {
  const files = Object.fromEntries(pictures.map(({ name, bytes }) => [`${name}.jpg`, bytes]));
  const lines = pictures.map(({ name }, at) => catalogLine(at, { bannerFile: `${name}.jpg` }));
  const { refusals } = await importLines(join(directory, 'data'), lines, await writePictures(directory, files));
  if (refusals.length > 0) throw new Error(refusals.join('\n'));
  const service = await startService({ directory, env: { LOG_LEVEL: 'warn', ...env } });
  return {
    ...service,
    urlOf: (picture, rest) => `${service.base}/${numberedChannelId(pictures.indexOf(picture))}/${rest}`,
  };
}
