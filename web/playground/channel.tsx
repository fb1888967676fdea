import { CopyButton } from '../parts/copy-button.tsx';
import { Badge } from './badge.tsx';
import { Devices } from './devices.tsx';
import { variantChange } from './image-options.tsx';
import { ImagePanel } from './image-panel.tsx';
import { choiceOf, imageUrl } from './image-url.ts';
import { Notice } from './notice.tsx';
import { RecordCard, RecordCode } from './record.tsx';
import type { ChannelProps } from './service.ts';

/** A channel: its devices, image, record, badge and snippets. */
export function Channel({ address, service, record }: ChannelProps) {
  const choice = choiceOf(record, address.state.value);
  const avatar =
    record.avatarUrl === null ? undefined : service.image(imageUrl(service.base, record, { variant: 'avatar' }));
  const face = avatar?.state.value.value?.src;
  return (
    <section class="channel stack" aria-labelledby="channel-title">
      <header class="row">
        <span class="face" aria-hidden="true">
          {face && <img src={face} alt="" />}
        </span>
        <div class="channel-names">
          <h1 id="channel-title" dir="auto" title={record.title}>
            {record.title}
          </h1>
          <p class="muted" dir="auto">
            {record.customUrl ?? record.channelId}
          </p>
        </div>
        <CopyButton label="Copy link" text={location.href} />
      </header>
      <Devices
        service={service}
        record={record}
        avatar={face}
        chosen={choice.variant}
        onChoose={(variant) => address.go(variantChange(choice.variant, variant))}
      />
      {record.bannerUrl === null && (
        <p class="muted">This channel has no banner{record.avatarUrl === null ? ' and no avatar' : ''}.</p>
      )}
      {choice.variant !== 'avatar' && <Notice of={avatar} />}
      <div class="columns stack">
        <div class="stack">
          <ImagePanel address={address} service={service} record={record} choice={choice} />
          <Badge address={address} service={service} record={record} />
        </div>
        <div class="stack">
          <RecordCard record={record} />
          <RecordCode base={service.base} record={record} />
        </div>
      </div>
      {isLoopback(new URL(service.base).hostname) && (
        <p class="muted">The URLs work on this machine only. With BASE_URL, the service writes its public address.</p>
      )}
    </section>
  );
}

/** True if only this machine can reach the host. */
function isLoopback(hostname: string): boolean {
  return /(?:^|\.)localhost$/.test(hostname) || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
