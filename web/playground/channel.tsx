import { useEffect, useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy-button.tsx';
import type { PageAddress } from './address.ts';
import { Badge } from './badge.tsx';
import { createChannelImages } from './channel-images.ts';
import { Devices } from './devices.tsx';
import { bundledImages } from './gallery.tsx';
import { variantChange } from './image-options.tsx';
import { ImagePanel } from './image-panel.tsx';
import { choiceOf } from './image-url.ts';
import { Notice } from './notice.tsx';
import { RecordCard, RecordCode } from './record.tsx';
import type { ChannelRecord, Service } from './service.ts';

interface ChannelProps {
  readonly address: PageAddress;
  readonly service: Service | undefined;
  /** `undefined`: it is being loaded. */
  readonly record: ChannelRecord | undefined;
}

/** A channel: its devices, image, record, badge and snippets. */
export function Channel({ address, service, record }: ChannelProps) {
  const state = address.state.value;
  const images = useMemo(() => service && record && createChannelImages(service, record), [service, record]);
  useEffect(() => () => images?.close(), [images]);
  // The cards are drawn a frame after the devices. One task for both would block a phone for longer.
  const [drawn, setDrawn] = useState(record);
  useEffect(() => setDrawn(record), [record]);

  const example = service?.examples.find(({ handle, channelId }) => [handle, channelId].includes(state.channel));
  const bundled = bundledImages(record?.channelId ?? example?.channelId);
  const choice = record && choiceOf(record, state);
  const avatar = record?.avatarUrl ? images?.usual('avatar') : undefined;
  const face = avatar?.state.value.value?.src ?? bundled?.avatar;
  const isBare = record?.bannerUrl === null;

  return (
    <section class="channel stack" aria-labelledby="channel-title" aria-busy={record === undefined}>
      <header class="row">
        <span class="face" aria-hidden="true">
          {face && <img src={face} alt="" />}
        </span>
        <div class="channel-names">
          <h2 id="channel-title" tabIndex={-1} dir="auto" title={record?.title}>
            {record?.title ?? (state.channel || 'Channel')}
          </h2>
          <p class="muted" dir="auto" role="status">
            {record ? (record.customUrl ?? record.channelId) : 'Loading…'}
          </p>
        </div>
        {record && <CopyButton label="Copy link" text={location.href} />}
      </header>
      <Devices
        record={record}
        images={isBare ? undefined : images}
        bundledBanner={bundled?.banner}
        avatar={face}
        chosen={choice?.variant}
        onChoose={(variant) => choice && address.go(variantChange(choice.variant, variant))}
      />
      {isBare && <p class="muted">This channel has no banner{record.avatarUrl === null ? ' and no avatar' : ''}.</p>}
      {choice?.variant !== 'avatar' && <Notice of={avatar} />}
      {service && record && record === drawn && images && choice && (
        <>
          <div class="columns">
            <div class="stack">
              <ImagePanel address={address} images={images} choice={choice} />
              <Badge address={address} images={images} />
            </div>
            <div class="stack">
              <RecordCard record={record} />
              <RecordCode base={service.base} record={record} />
            </div>
          </div>
          {isLoopback(new URL(service.base).hostname) && (
            <p class="muted">
              The URLs work on this machine only. With BASE_URL, the service writes its public address.
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** True if only this machine can reach the host. */
function isLoopback(hostname: string): boolean {
  return /(?:^|\.)localhost$/.test(hostname) || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
