import type { Variant } from '../domain/variants.ts';
import { element, find } from './dom.ts';
import {
  type ChannelRecord,
  FORMAT_CHOICES,
  type ImageChoice,
  kindOf,
  presetWidths,
  usualWidth,
  VARIANT_CHOICES,
} from './image-choice.ts';

const TYPING_PAUSE_MS = 500;

/** The form with variant, format and size. */
export function createImageOptions(
  form: HTMLFormElement,
  {
    onChange,
    onInvalid,
  }: {
    /** The form has another, valid choice. @param isTyped in a text or number field */
    readonly onChange: (isTyped: boolean) => void;
    readonly onInvalid: () => void;
  },
) {
  const width = find('input[name=width]', HTMLInputElement, form);
  const height = find('input[name=height]', HTMLInputElement, form);
  const quality = find('input[name=quality]', HTMLInputElement, form);
  const fit = find('select[name=fit]', HTMLSelectElement, form);
  const background = find('input[name=background]', HTMLInputElement, form);
  const more = find('#more', HTMLDetailsElement, form);
  const presets = find('#presets', HTMLElement, form);
  let pause: ReturnType<typeof setTimeout> | undefined;
  /** `banner` or `avatar`, whose widths are offered. Empty before the first choice. */
  let kind = '';

  find('#variants', HTMLElement, form).append(
    ...VARIANT_CHOICES.map(({ variant, label }) => radio('variant', variant, label)),
  );
  find('#formats', HTMLElement, form).append(
    ...FORMAT_CHOICES.map(({ format, label }) => radio('format', format, label)),
  );

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change(false);
  });
  form.addEventListener('input', (event) => {
    clearTimeout(pause);
    const isTyped = event.target instanceof HTMLInputElement && ['number', 'text'].includes(event.target.type);
    if (isTyped) pause = setTimeout(() => change(true), TYPING_PAUSE_MS);
    else change(false);
  });
  // The field has lost the focus: the button that is clicked next must find the new choice.
  form.addEventListener('change', () => {
    if (pause !== undefined) change(true);
  });

  function change(isTyped: boolean) {
    clearTimeout(pause);
    pause = undefined;
    followVariant();
    showPresets();
    if (form.checkValidity()) onChange(isTyped);
    else onInvalid();
  }

  /** A width that suits banners does not suit avatars. */
  function followVariant() {
    const { variant } = choice();
    if (kind !== kindOf(variant) && kind !== '') {
      width.value = usualWidth(variant);
      height.value = '';
    }
    kind = kindOf(variant);
  }

  function showPresets() {
    const { variant } = choice();
    presets.replaceChildren(
      ...presetWidths(variant).map((value) =>
        element(
          'button',
          {
            type: 'button',
            'aria-pressed': String(width.value === value && height.value === ''),
            'aria-label': `${value} pixels wide`,
            onclick: () => preset(value),
          },
          value,
        ),
      ),
    );
  }

  function preset(value: string) {
    width.value = value;
    height.value = '';
    change(false);
    [...presets.querySelectorAll('button')].find(({ textContent }) => textContent === value)?.focus();
  }

  function choice(): ImageChoice {
    // FormData would leave out disabled fields.
    const chosen = { variant: checked('variant'), format: checked('format') };
    return {
      ...chosen,
      width: digitsOf(width),
      height: digitsOf(height),
      quality: digitsOf(quality),
      fit: fit.value,
      background: background.value,
    } as ImageChoice;
  }

  function checked(name: 'variant' | 'format') {
    return find(`input[name=${name}]:checked`, HTMLInputElement, form).value;
  }

  function radioOf(name: 'variant' | 'format', value: string) {
    return find(`input[name=${name}][value=${value}]`, HTMLInputElement, form);
  }

  return {
    choice,

    /**
     * Shows a choice; `onChange` is not called.
     *
     * @param record variants without an image cannot be chosen
     */
    show(record: ChannelRecord, shown: ImageChoice) {
      clearTimeout(pause);
      pause = undefined;
      for (const { variant } of VARIANT_CHOICES)
        radioOf('variant', variant).disabled = record.bannerUrls[variant] === null;
      radioOf('variant', shown.variant).checked = true;
      radioOf('format', shown.format).checked = true;
      width.value = shown.width;
      height.value = shown.height;
      quality.value = shown.quality;
      fit.value = shown.fit;
      background.value = shown.background;
      if (shown.height !== '' || shown.quality !== '' || shown.fit !== 'cover') more.open = true;
      kind = kindOf(shown.variant);
      showPresets();
    },

    choose(variant: Variant) {
      radioOf('variant', variant).checked = true;
      change(false);
    },
  };
}

/** Number fields accept 1e3 too, which is not a number in a URL. */
function digitsOf({ value, valueAsNumber }: HTMLInputElement) {
  return value === '' ? '' : String(valueAsNumber);
}

function radio(name: string, value: string, label: string) {
  return element('label', {}, element('input', { type: 'radio', name, value }), label);
}
