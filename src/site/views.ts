import { find } from './dom.ts';

type View = 'home' | 'loading' | 'channel';

/** Shows the first page, a channel that is being loaded, or a channel. Focus that would be lost moves into the new view. */
export function showView(view: View) {
  const hadFocus = document.activeElement instanceof HTMLElement && document.activeElement !== document.body;
  const channel = find('#channel', HTMLElement);
  document.body.dataset.view = view;
  channel.hidden = view === 'home';
  find('#result', HTMLElement).hidden = view !== 'channel';
  channel.setAttribute('aria-busy', String(view === 'loading'));
  const isFocusHidden = document.activeElement instanceof HTMLElement && !document.activeElement.checkVisibility();
  if (!hadFocus || !isFocusHidden) return;
  (view === 'home' ? find('#query', HTMLInputElement) : find('#channel-title', HTMLElement)).focus();
}
