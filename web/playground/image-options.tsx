import type { TargetedEvent } from 'preact';
import { FORMATS, titleOfFormat } from '../../src/domain/formats.ts';
import { MAX_SIDE_PX, type Variant } from '../../src/domain/variants.ts';
import { Segmented } from '../parts/segmented.tsx';
import { useTextField } from '../parts/text-field.ts';
import { OWN_WIDTH, type PageAddress } from './address.ts';
import { hasImage, type ImageChoice, kindOf, presetWidths, usualWidth, VARIANT_LABELS } from './image-url.ts';
import type { ChannelRecord } from './service.ts';

interface ImageOptionsProps {
  readonly address: PageAddress;
  readonly record: ChannelRecord;
  readonly choice: ImageChoice;
}

const FORMAT_CHOICES = [
  { value: '', label: 'Auto' },
  ...FORMATS.map((format) => ({ value: format as string, label: titleOfFormat(format) })),
];

/** Variant, format and size. */
export function ImageOptions({ address, record, choice }: ImageOptionsProps) {
  const { variant, format, width, height, quality, fit, background } = choice;
  const variants = (Object.keys(VARIANT_LABELS) as Variant[]).map((value) => ({
    value,
    label: VARIANT_LABELS[value],
    isDisabled: !hasImage(record, value),
  }));

  function setWidth(text: string) {
    address.go({ width: text === usualWidth(variant) ? '' : text || OWN_WIDTH });
  }

  return (
    <form class="options" onSubmit={(event) => event.preventDefault()}>
      <Segmented
        legend="Variant"
        name="variant"
        choices={variants}
        value={variant}
        onChoose={(value) => address.go(variantChange(variant, value as Variant))}
      />
      <Segmented
        legend="Format"
        name="format"
        choices={FORMAT_CHOICES}
        value={format}
        onChoose={(value) => address.go({ format: value })}
      />
      <div class="sizes">
        <Field placeholder="auto" label="Width" max={MAX_SIDE_PX} value={width} onEnter={setWidth} />
        <div class="presets">
          {presetWidths(variant).map((preset) => (
            <button
              key={preset}
              type="button"
              aria-pressed={width === preset && height === ''}
              aria-label={`${preset} pixels wide`}
              onClick={() => address.go({ width: preset === usualWidth(variant) ? '' : preset, height: '' })}
            >
              {preset}
            </button>
          ))}
        </div>
      </div>
      <details class="more" open={[height, quality, fit].some((value) => value !== '')}>
        <summary>More</summary>
        <div class="sizes">
          <Field
            placeholder="auto"
            label="Height"
            max={MAX_SIDE_PX}
            value={height}
            onEnter={(text) => address.go({ height: text })}
          />
          <Field
            placeholder="auto"
            label="Quality"
            max={100}
            value={quality}
            onEnter={(text) => address.go({ quality: text })}
          />
          <label>
            Fit
            <select value={fit} onChange={({ currentTarget }) => address.go({ fit: currentTarget.value })}>
              <option value="">Cut to size</option>
              <option value="contain">Whole, padded</option>
            </select>
          </label>
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

interface FieldProps {
  readonly label: string;
  readonly value: string;
  /** The greatest number. Without it, any text is allowed that the pattern allows. */
  readonly max?: number;
  readonly pattern?: string;
  readonly placeholder?: string;
  readonly title?: string;
  /** A valid value was entered, with Enter or by leaving the field. */
  readonly onEnter: (value: string) => void;
}

function Field({ label, value, max, onEnter, ...attributes }: FieldProps) {
  const field = useTextField(value);
  const type = max === undefined ? {} : { type: 'number' as const, min: 1, max };
  function enter({ currentTarget: input }: TargetedEvent<HTMLInputElement>) {
    if (!input.reportValidity()) return;
    // Number fields accept 1e3 too, which is not a number in a URL.
    onEnter(input.type === 'number' && input.value !== '' ? String(input.valueAsNumber) : input.value);
  }
  return (
    <label>
      {label}
      <input {...field} {...type} {...attributes} autocomplete="off" spellcheck={false} onChange={enter} />
    </label>
  );
}
