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

/** Copies the text, or else selects it. Returns the outcome as words for the button. */
async function copyText(text: string, shownAt: HTMLElement | undefined) {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    if (copyByCommand(text)) return 'Copied';
    if (shownAt === undefined) return 'Copy the address above';
    getSelection()?.selectAllChildren(shownAt);
    return 'Press Ctrl+C to copy';
  }
}

/** The older way. Browsers offer `navigator.clipboard` to secure origins only. */
function copyByCommand(text: string) {
  const focused = document.activeElement;
  const field = element('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' }) as HTMLTextAreaElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
