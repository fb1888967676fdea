import { type GetOptions, Problem, type RequestDeps } from './api.ts';
import { BROWSER_ACCEPT, throughInstance } from './image-choice.ts';

/**
 * Loads an image as an `<img>` would.
 *
 * @param publicUrl as the instance writes it
 * @returns the response, the URL of its bytes in this page, and the size in pixels; rejects with `Problem`
 */
export async function loadImage(
  { api, instance }: Pick<RequestDeps, 'api' | 'instance'>,
  publicUrl: string,
  options: GetOptions,
) {
  const response = await api.get(throughInstance(instance(), publicUrl), { ...options, accept: BROWSER_ACCEPT });
  if (!response.body.type.startsWith('image/')) {
    throw new Problem({
      status: 200,
      code: 'not_image',
      title: 'Not an image',
      detail: `Its type is ${response.body.type}.`,
    });
  }
  const url = URL.createObjectURL(response.body);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    URL.revokeObjectURL(url);
    throw new Problem({
      status: 200,
      code: 'unreadable',
      title: 'Not readable',
      detail: 'This browser cannot show the image.',
    });
  }
  return { response, url, size: { width: image.naturalWidth, height: image.naturalHeight } };
}
