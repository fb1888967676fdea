import { valuesAt } from './json.ts';

/** Where an item that ends a page has the token of the next one, the newest form first. */
const TOKEN_PATHS = [
  // Since 2026-06, with and without the wrapping.
  'continuationItemViewModel.continuationCommand.innertubeCommand.continuationCommand.token',
  'continuationItemViewModel.continuationCommand.continuationCommand.token',
  'continuationItemViewModel.continuationCommand.token',
  'continuationItemRenderer.continuationEndpoint.continuationCommand.token',
  // "Show more" buttons.
  'continuationItemRenderer.button.buttonRenderer.command.continuationCommand.token',
];

/** The token of the page after these items; `undefined` at the end of a list. */
export function findContinuationToken(items: readonly unknown[]): string | undefined {
  return TOKEN_PATHS.flatMap((path) => valuesAt(items, `*.${path}`)).find(
    (token) => typeof token === 'string' && token !== '',
  ) as string | undefined;
}
