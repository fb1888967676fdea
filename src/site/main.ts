import { loadChannels } from './gallery.ts';
import { createInstance } from './instance.ts';
import { createPageAddress } from './page-state.ts';
import { createPlayground } from './playground.ts';
import { showView } from './views.ts';

const address = createPageAddress();
// Before anything is awaited, so that nothing moves later.
showView(address.state().channel === '' ? 'home' : 'loading');
const loadingChannels = loadChannels();
const instance = await createInstance(address.state().instance);
const playground = createPlayground(address, instance);
addEventListener('popstate', playground.restore);
playground.restore();
playground.showExamples(await loadingChannels);
