import { FORMATS, formatRow } from '../../src/domain/formats.ts';
import { Card, Facts } from '../parts/card.tsx';
import { CopiedUrl } from '../parts/copy-button.tsx';
import { formatBytes } from '../parts/numbers.ts';
import { Snippets } from '../parts/snippets.tsx';
import { ImageOptions } from './image-options.tsx';
import { imageSnippets } from './image-snippets.ts';
import { altOf, hasImage, type ImageChoice, imageUrl } from './image-url.ts';
import { Notice } from './notice.tsx';
import type { ChannelProps, LoadedImage } from './service.ts';

interface ImagePanelProps extends ChannelProps {
  readonly choice: ImageChoice;
}

/** One image of the channel: its options, address, size and bytes, and the snippets. */
export function ImagePanel({ address, service, record, choice }: ImagePanelProps) {
  if (!hasImage(record, choice.variant)) return null;
  const urlOf = (changes: Partial<ImageChoice>) => imageUrl(service.base, record, { ...choice, ...changes });
  const url = urlOf({});
  const loading = service.image(url);
  const { value: image, problem } = loading.state.value;
  const alt = altOf(record, choice.variant);
  return (
    <Card id="image" heading="Image">
      <CopiedUrl id="image-url" url={url} />
      <ImageOptions address={address} record={record} choice={choice} />
      <figure class="stack" aria-busy={!image && !problem}>
        <div class="stage">
          {image && <img id="preview" src={image.src} width={image.width} height={image.height} alt={alt} />}
          <Notice of={loading} />
        </div>
        <figcaption class="row heading">
          {image && <LoadedFacts image={image} name={`${record.channelId}-${choice.variant}`} />}
        </figcaption>
      </figure>
      <Snippets label="Copy the image as" snippets={imageSnippets({ choice, urlOf, alt, size: image })} />
    </Card>
  );
}

function LoadedFacts({ image: { src, width, height, bytes, mediaType }, name }: { image: LoadedImage; name: string }) {
  const format = FORMATS.find((other) => formatRow(other).mediaType === mediaType);
  const facts = {
    Size: `${width} × ${height}`,
    Format: format ? formatRow(format).title : mediaType,
    Bytes: formatBytes(bytes),
  };
  return (
    <>
      <Facts id="facts" of={facts} />
      <a class="button" href={src} download={`${name}.${format && formatRow(format).extension}`}>
        Download
      </a>
    </>
  );
}
