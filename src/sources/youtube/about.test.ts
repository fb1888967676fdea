import { expect, it } from 'vitest';
import { buildAboutToken } from './about.ts';
import { readPage as readPageOf } from './page.ts';

const readPage = (page: Parameters<typeof readPageOf>[0]) => readPageOf(page, 'UCreplayLighthouse000001');

it('a built token of an About panel is the same as that of a channel page, byte for byte', () => {
  expect(buildAboutToken('UCYJ61XIK64sp6ZFFS8sctxw', '6c02aeb7-0000-2b83-9ea3-14c14ef43080')).toBe(
    '4qmFsgJgEhhVQ1lKNjFYSUs2NHNwNlpGRlM4c2N0eHcaRDhnWXJHaW1hQVNZS0pEWmpNREpoWldJM0xUQXdNREF0TW1JNE15MDVaV0V6TFRFMFl6RTBaV1kwTXpBNE1BJTNEJTNE',
  );
});

it('the token is found anywhere in the header of a page, in both items that it may have, and never in a shelf', () => {
  const panelWith = (item: object) => {
    const content = { sectionListRenderer: { contents: [{ itemSectionRenderer: { contents: [item] } }] } };
    const engagementPanel = { engagementPanelSectionListRenderer: { content } };
    return { showEngagementPanelEndpoint: { engagementPanel } };
  };
  const item = (token: unknown) => ({
    continuationItemRenderer: { continuationEndpoint: { continuationCommand: { token } } },
  });
  const viewModel = {
    continuationItemViewModel: { continuationCommand: { innertubeCommand: { continuationCommand: { token: 'new' } } } },
  };
  expect(readPage({ header: { some: [{ deep: panelWith(item('old')) }] } }).aboutToken).toBe('old');
  expect(readPage({ header: panelWith(viewModel) }).aboutToken).toBe('new');
  expect(readPage({ contents: [panelWith(item('old'))], header: panelWith(item(7)) }).aboutToken).toBeUndefined();
});
