import { useLayoutEffect } from 'preact/hooks';
import type { PageAddress } from './address.ts';
import { Channel } from './channel.tsx';
import { ChannelLink } from './channel-link.tsx';
import { Gallery } from './gallery.tsx';
import { Hero } from './hero.tsx';
import { useLoading } from './loading.ts';
import { Lookup } from './lookup.tsx';
import { Notice } from './notice.tsx';
import { connect } from './service.ts';

/**
 * The playground. Its first page and the place of a channel are always in the document, so that the build can write them into
 * index.html; the style sheet shows one of them (`data-view`).
 *
 * @param isStarted false while the build writes the page
 */
export function Playground({ address, isStarted }: { address: PageAddress; isStarted: boolean }) {
  const { channel } = address.state.value;
  const connection = useLoading(isStarted || undefined, connect);
  const service = connection?.state.value.value;
  const lookup = useLoading(service && channel !== '' ? channel : undefined, (signal) => {
    if (service === undefined) throw new Error('The service is not known yet.');
    return service.find(channel, signal);
  });
  const { value: found, problem } = lookup?.state.value ?? {};
  const isHome = channel === '' || problem !== undefined || found?.results !== undefined;
  const channelView = found === undefined ? 'loading' : 'channel';
  const view = isHome ? 'home' : channelView;
  const title = found?.record?.title;

  useLayoutEffect(() => {
    if (isStarted) document.documentElement.dataset.view = view;
    document.title = `${title === undefined ? '' : `${title} · `}Pennant playground`;
  }, [view, title, isStarted]);

  return (
    <>
      <header class="row">
        <ChannelLink class="brand" address={address} channel="">
          <img src="pennant.svg" alt="" width={28} height={28} />
          Pennant <span>Playground</span>
        </ChannelLink>
      </header>
      <main>
        <section class="intro">
          <div class="stack">
            <h1>Any YouTube channel’s banner, avatar and numbers, as a URL</h1>
            <p class="lede muted">No API key, no login.</p>
            <noscript>
              <p class="notice">
                This page needs JavaScript. The URLs do not: write <code>/@handle/tv</code>,{' '}
                <code>/@handle/avatar</code> or <code>/api/channel/ID</code> after the address of an instance.{' '}
                <a href="api.html">All of them</a>.
              </p>
            </noscript>
            <Lookup address={address} lookup={lookup} />
            <Notice of={connection} />
          </div>
          <Hero service={isHome ? service : undefined} />
        </section>
        <Gallery address={address} examples={(isHome && service?.examples) || []} />
        <Channel address={address} service={service} record={found?.record} />
      </main>
      <footer class="row">
        {service &&
          ['', 'openapi.json', 'problems'].map((path) => (
            <a key={path} href={`${service.base}/${path}`}>
              {path || 'index'}
            </a>
          ))}
        <a href="api.html">API</a>
      </footer>
    </>
  );
}
