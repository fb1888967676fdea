import { FORMATS, formatRow } from '../../src/domain/formats.ts';
import { MAX_SIDE_PX, VARIANTS, type Variant, variantRow } from '../../src/domain/variants.ts';
import { Field, Segmented } from '../parts/fields.tsx';
import { OWN_WIDTH, type PageAddress } from './address.ts';
import { hasImage, type ImageChoice, kindOf, presetWidths, usualWidth } from './image-url.ts';
import type { ChannelRecord } from './service.ts';

interface ImageOptionsProps {
  readonly address: PageAddress;
  readonly record: ChannelRecord;
  readonly choice: ImageChoice;
}

const FORMAT_CHOICES = [
  { value: '', label: 'Auto' },
  ...FORMATS.map((format) => ({ value: format as string, label: formatRow(format).title })),
];
const FITS = [
  { value: '', label: 'Cut to size' },
  { value: 'contain', label: 'Whole, padded' },
];

/** Variant, format and size. */
export function ImageOptions({ address, record, choice }: ImageOptionsProps) {
  const { variant, format, width, height, quality, fit, background } = choice;
  const variants = VARIANTS.map((value) => ({
    value,
    label: variantRow(value).title,
    isDisabled: !hasImage(record, value),
  }));
  const presets = presetWidths(variant);
  const widths = [...presets.map((value) => ({ value, label: value })), { value: OWN_WIDTH, label: 'Original' }];

  function setWidth(text: string) {
    address.go({ width: text === usualWidth(variant) ? '' : text || OWN_WIDTH });
  }

  return (
    <form class="row options" onSubmit={(event) => event.preventDefault()}>
      <Segmented
        label="Variant"
        choices={variants}
        value={variant}
        onChoose={(value) => address.go(variantChange(variant, value as Variant))}
      />
      <Segmented
        label="Format"
        choices={FORMAT_CHOICES}
        value={format}
        onChoose={(value) => address.go({ format: value })}
      />
      <Segmented label="Width" choices={widths} value={width || OWN_WIDTH} onChoose={setWidth} />
      <details open={[height, quality, fit].some((value) => value !== '') || !['', ...presets].includes(width)}>
        <summary>More</summary>
        <div class="row options">
          <Field label="Exact width" placeholder="auto" max={MAX_SIDE_PX} value={width} onEnter={setWidth} />
          <Field
            label="Height"
            placeholder="auto"
            max={MAX_SIDE_PX}
            value={height}
            onEnter={(text) => address.go({ height: text })}
          />
          <Field
            label="Quality"
            placeholder="auto"
            max={100}
            value={quality}
            onEnter={(text) => address.go({ quality: text })}
          />
          <Segmented label="Fit" choices={FITS} value={fit} onChoose={(value) => address.go({ fit: value })} />
          <Field
            label="Background"
            pattern="[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|transparent"
            placeholder="transparent"
            title="Of the padding: three or six hex digits, or transparent"
            value={background}
            onEnter={(text) => address.go({ background: text })}
          />
        </div>
      </details>
    </form>
  );
}

/** A width that suits banners does not suit avatars. */
export function variantChange(former: Variant, variant: Variant) {
  return kindOf(former) === kindOf(variant) ? { variant } : { variant, width: '', height: '' };
}
