import { element, find } from './dom.js';
import { FORMATS, kindOf, presetWidths, usualWidth, VARIANTS } from './images.js';

/**
 * @typedef {import('./images.js').ChannelRecord} ChannelRecord
 * @typedef {import('./images.js').ImageChoice} ImageChoice
 * @typedef {import('./images.js').Variant} Variant
 */

const TYPING_PAUSE_MS = 500;

/**
 * The form with variant, format and size.
 *
 * @param {HTMLFormElement} form
 * @param {object} deps
 * @param {(isTyped: boolean) => void} deps.onChange the form has another, valid choice; typed: in a number field
 * @param {() => void} deps.onInvalid
 */
export function createImageOptions(form, { onChange, onInvalid }) {
  const width = find('input[name=width]', HTMLInputElement, form);
  const height = find('input[name=height]', HTMLInputElement, form);
  const quality = find('input[name=quality]', HTMLInputElement, form);
  const presets = find('#presets', HTMLElement, form);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  /** The variant whose widths are offered. */
  let kind = '';

  find('#variants', HTMLElement, form).append(
    ...VARIANTS.map(({ variant, label }) => radio('variant', variant, label)),
  );
  find('#formats', HTMLElement, form).append(...FORMATS.map(({ format, label }) => radio('format', format, label)));

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change(false);
  });
  form.addEventListener('input', (event) => {
    clearTimeout(pause);
    const isTyped = event.target instanceof HTMLInputElement && event.target.type === 'number';
    if (isTyped) pause = setTimeout(() => change(true), TYPING_PAUSE_MS);
    else change(false);
  });

  /** @param {boolean} isTyped */
  function change(isTyped) {
    clearTimeout(pause);
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

  /** @param {string} value */
  function preset(value) {
    width.value = value;
    height.value = '';
    change(false);
    [...presets.querySelectorAll('button')].find(({ textContent }) => textContent === value)?.focus();
  }

  /** @returns {ImageChoice} */
  function choice() {
    // FormData would leave out disabled fields.
    const chosen = { variant: checked('variant'), format: checked('format') };
    return /** @type {ImageChoice} */ ({
      ...chosen,
      width: width.value,
      height: height.value,
      quality: quality.value,
    });
  }

  /** @param {'variant' | 'format'} name */
  function checked(name) {
    return find(`input[name=${name}]:checked`, HTMLInputElement, form).value;
  }

  /**
   * @param {'variant' | 'format'} name
   * @param {string} value
   */
  function radioOf(name, value) {
    return find(`input[name=${name}][value=${value}]`, HTMLInputElement, form);
  }

  return {
    choice,

    /**
     * Shows a choice; `onChange` is not called.
     *
     * @param {ChannelRecord} record variants without an image cannot be chosen
     * @param {ImageChoice} shown
     */
    show(record, shown) {
      clearTimeout(pause);
      for (const { variant } of VARIANTS) radioOf('variant', variant).disabled = record.bannerUrls[variant] === null;
      radioOf('variant', shown.variant).checked = true;
      radioOf('format', shown.format).checked = true;
      width.value = shown.width;
      height.value = shown.height;
      quality.value = shown.quality;
      kind = kindOf(shown.variant);
      showPresets();
    },

    /** @param {Variant} variant */
    choose(variant) {
      radioOf('variant', variant).checked = true;
      change(false);
    },
  };
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} label
 */
function radio(name, value, label) {
  return element('label', {}, element('input', { type: 'radio', name, value }), label);
}
