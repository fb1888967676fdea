import { Problem } from './api.ts';
import type { ReceivedResponse } from './recent-responses.ts';

/** @returns the URL of the bytes in this page, and their size in pixels; rejects with `Problem` */
export async function decodeImage(response: ReceivedResponse) {
  if (!response.body.type.startsWith('image/')) {
    throw new Problem({ status: 200, code: 'not_image', detail: `Its type is ${response.body.type}.` });
  }
  const url = URL.createObjectURL(response.body);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    URL.revokeObjectURL(url);
    throw new Problem({ status: 200, code: 'unreadable', detail: 'This browser cannot show the image.' });
  }
  return { response, url, size: { width: image.naturalWidth, height: image.naturalHeight } };
}
