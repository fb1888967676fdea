import { element, find } from './dom.ts';

const SHOWN_MS = 2000;

/**
 * A button that copies a text and reports the outcome.
 *
 * @param shownAt the element that shows the text
 */
export function createCopyButton(
  label: string,
  text: () => string,
  shownAt: () => HTMLElement | undefined = () => undefined,
) {
  const button = element('button', { type: 'button', class: 'copy' }, label);
  let pause: ReturnType<typeof setTimeout> | undefined;

  button.addEventListener('click', async () => {
    const outcome = await copyText(text(), shownAt());
    button.textContent = outcome;
    find('#announcements', HTMLElement).textContent = outcome;
    clearTimeout(pause);
    pause = setTimeout(() => {
      button.textContent = label;
      find('#announcements', HTMLElement).textContent = '';
    }, SHOWN_MS);
  });
  return button;
}

/** Browsers allow secure origins only to write the clipboard. Elsewhere the text is selected, so that it can be copied. */
async function copyText(text: string, shownAt: HTMLElement | undefined) {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    if (shownAt === undefined) return 'Copy the address above';
    getSelection()?.selectAllChildren(shownAt);
    return 'Press Ctrl+C to copy';
  }
}
