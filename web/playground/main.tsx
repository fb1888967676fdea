import { hydrate } from 'preact';
import { createAddress } from './address.ts';
import { Playground } from './page.tsx';

const address = createAddress();
// The first page is in the document (scripts/build-assets.ts). What the address names is shown over it at once.
hydrate(<Playground address={address} isStarted />, document.body);
address.follow();
