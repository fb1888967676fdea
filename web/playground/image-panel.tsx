import { FORMATS, formatRow, titleOfFormat } from '../../src/domain/formats.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { formatBytes } from '../parts/numbers.ts';
import { Snippets } from '../parts/snippets.tsx';
import type { PageAddress } from './address.ts';
import { ImageOptions } from './image-options.tsx';
import { imageSnippets } from './image-snippets.ts';
import { altOf, hasImage, type ImageChoice, imageUrl } from './image-url.ts';
import type { ChannelImages } from './images.ts';
import { Notice } from './notice.tsx';
import type { ChannelRecord, LoadedImage } from './service.ts';

interface ImagePanelProps {
  readonly address: PageAddress;
  readonly origin: string;
  readonly record: ChannelRecord;
  readonly images: ChannelImages;
  readonly choice: ImageChoice;
}

/** One image of the channel: its options, address, size and bytes, and the snippets. */
export function ImagePanel({ address, origin, record, images, choice }: ImagePanelProps) {
  if (!hasImage(record, choice.variant)) return null;
  const urlOf = (changes: Partial<ImageChoice>) => imageUrl(origin, record, { ...choice, ...changes });
  const url = urlOf({});
  const loading = images.at(url);
  const { value: image, problem } = loading.state.value;
  const alt = altOf(record, choice.variant);
  return (
    <section class="card image" aria-labelledby="image-heading">
      <h2 id="image-heading">Image</h2>
      <div class="url-field">
        <pre id="image-url" dir="ltr">
          <code>{url}</code>
        </pre>
        <CopyButton label="Copy URL" text={url} />
      </div>
      <ImageOptions address={address} record={record} choice={choice} />
      <figure class="preview" aria-busy={!image && !problem}>
        <div class="stage">
          {image && <img id="preview" src={image.src} width={image.width} height={image.height} alt={alt} />}
          <Notice of={loading} />
        </div>
        <figcaption>{image && <Facts image={image} name={`${record.channelId}-${choice.variant}`} />}</figcaption>
      </figure>
      <Snippets label="Copy the image as" snippets={imageSnippets({ choice, urlOf, alt, size: image })} />
    </section>
  );
}

function Facts({ image, name }: { image: LoadedImage; name: string }) {
  const { src, width, height, bytes, mediaType } = image;
  const format = FORMATS.find((other) => formatRow(other).mediaType === mediaType);
  return (
    <>
      <dl id="facts" class="facts">
        <Fact label="Size" value={`${width} × ${height}`} />
        <Fact label="Format" value={format ? titleOfFormat(format) : mediaType} />
        <Fact label="Bytes" value={formatBytes(bytes)} />
      </dl>
      <a class="button" href={src} download={`${name}.${format && formatRow(format).extension}`}>
        Download
      </a>
    </>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
