import { renderToString } from 'preact-render-to-string';
import { createAddress } from './address.ts';
import { Playground } from './page.tsx';

/** The first page as HTML, so that its words are there before the script is. */
export const HTML = renderToString(<Playground address={createAddress()} isStarted={false} />);
