import type { ComponentChildren } from 'preact';
import { type PageAddress, readState, searchOf } from './address.ts';

interface ChannelLinkProps {
  readonly address: PageAddress;
  /** An empty text is the first page. */
  readonly channel: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to the page's address for a channel, which the page follows by itself. */
export function ChannelLink({ address, channel, children, ...attributes }: ChannelLinkProps) {
  const state = { ...readState(''), channel };

  function follow(event: MouseEvent) {
    // A click with another button or a key opens a tab or a window.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    address.go(state);
    // The link is no longer shown.
    requestAnimationFrame(() => document.getElementById(channel === '' ? 'query' : 'channel-title')?.focus());
  }

  return (
    <a {...attributes} href={searchOf(state) || './'} onClick={follow}>
      {children}
    </a>
  );
}
