import { useEffect, useMemo } from 'preact/hooks';
import type { PageAddress } from './address.ts';
import { Channel } from './channel.tsx';
import { Gallery } from './gallery.tsx';
import { Hero } from './hero.tsx';
import { startLoading } from './loading.ts';
import { Lookup } from './lookup.tsx';
import { Notice } from './notice.tsx';
import { connect } from './service.ts';

/** The channel that the address names; the first page if it names none, or what is no channel. */
export function Playground({ address }: { address: PageAddress }) {
  const { channel } = address.state.value;
  const connection = useMemo(() => startLoading(connect), []);
  const service = connection.state.value.value;
  const lookup = useMemo(
    () => (service && channel !== '' ? startLoading(() => service.find(channel)) : undefined),
    [service, channel],
  );
  const { value: found, problem } = lookup?.state.value ?? {};
  const isHome = channel === '' || problem !== undefined || found?.results !== undefined;
  const title = found?.record?.title;

  useEffect(() => {
    document.title = `${title === undefined ? '' : `${title} · `}Pennant playground`;
  }, [title]);

  return (
    <>
      <header class="row">
        <a class="brand" href="./">
          <img src="pennant.svg" alt="" width={28} height={28} />
          Pennant <span>Playground</span>
        </a>
      </header>
      <main class="stack">
        <div class={isHome ? 'intro stack' : ''}>
          <div class="stack">
            {isHome && (
              <>
                <h1>Any YouTube channel’s banner, avatar and numbers, as a URL</h1>
                <p class="muted">No API key, no login.</p>
              </>
            )}
            <Lookup channel={channel} lookup={lookup} />
            <Notice of={connection} />
          </div>
          {isHome && <Hero service={service} />}
        </div>
        {isHome && <Gallery examples={service?.examples ?? []} />}
        {!isHome && found === undefined && <p role="status">Loading…</p>}
        {service && found?.record && <Channel address={address} service={service} record={found.record} />}
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
