import { signal } from '@preact/signals';
import { renderToString } from 'preact-render-to-string';
import { Console } from './page.tsx';

/** The page before the first poll, as HTML. */
export const HTML = renderToString(<Console polls={signal([])} isUnreachable={signal(false)} />);
