import { describe, expect, it } from 'vitest';

import { buildAboutToken } from './about.ts';
import { readPage } from './readings.ts';

describe('buildAboutToken', () => {
  it('builds the same token as a channel page, byte for byte', () => {
    expect(buildAboutToken('UCYJ61XIK64sp6ZFFS8sctxw', '6c02aeb7-0000-2b83-9ea3-14c14ef43080')).toBe(
      '4qmFsgJgEhhVQ1lKNjFYSUs2NHNwNlpGRlM4c2N0eHcaRDhnWXJHaW1hQVNZS0pEWmpNREpoWldJM0xUQXdNREF0TW1JNE15MDVaV0V6TFRFMFl6RTBaV1kwTXpBNE1BJTNEJTNE',
    );
  });
});

describe('the About token of a page', () => {
  const panel = (token: unknown) =>
    panelWith({ continuationItemRenderer: { continuationEndpoint: { continuationCommand: { token } } } });
  const panelWith = (item: object) => ({
    showEngagementPanelEndpoint: {
      engagementPanel: {
        engagementPanelSectionListRenderer: {
          content: {
            sectionListRenderer: {
              contents: [{ itemSectionRenderer: { contents: [item] } }],
            },
          },
        },
      },
    },
  });

  it('is found anywhere in the header', () => {
    expect(readPage({ header: { some: [{ deep: panel('from the header') }] } }).aboutToken).toBe('from the header');
  });

  it('is found in the item of 2026-06 too', () => {
    const continuationCommand = { innertubeCommand: { continuationCommand: { token: 'of a view model' } } };
    const header = panelWith({ continuationItemViewModel: { continuationCommand } });
    expect(readPage({ header }).aboutToken).toBe('of a view model');
  });

  it('is never taken from the panel of a shelf', () => {
    expect(readPage({ contents: [panel('of a shelf')], header: {} }).aboutToken).toBeUndefined();
  });

  it('is not found in a panel of another shape', () => {
    expect(readPage({ header: panel(7) }).aboutToken).toBeUndefined();
    expect(readPage({ header: { showEngagementPanelEndpoint: {} } }).aboutToken).toBeUndefined();
    expect(readPage({}).aboutToken).toBeUndefined();
  });
});
