import { render } from 'preact';
import { followAddress } from './address.ts';
import { Playground } from './page.tsx';

render(<Playground address={followAddress()} />, document.body);
