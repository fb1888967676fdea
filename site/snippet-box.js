import { createCopyButton } from './copy.js';
import { element } from './dom.js';

/**
 * @template Input
 * @typedef {object} Snippet
 * @property {string} name
 * @property {string} label
 * @property {(input: Input) => string} write
 * @property {string} [note] shown below the text
 */

/**
 * Texts to copy, one tab each (ARIA tabs pattern).
 *
 * @template Input
 * @param {HTMLElement} container
 * @param {{ id: string, label: string }} naming `id` is unique in the page
 */
export function createSnippetBox(container, { id, label }) {
  const code = element('code', {});
  const panel = element('pre', { id, role: 'tabpanel', tabindex: 0, dir: 'ltr' }, code);
  const tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
  const note = element('p', { class: 'hint snippet-note' });
  const copy = createCopyButton(
    'Copy',
    () => code.textContent ?? '',
    () => code,
  );
  container.replaceChildren(element('div', { class: 'snippet-bar' }, tabs, copy), panel, note);
  /** @type {Input | undefined} */
  let input;
  /** @type {readonly Snippet<Input>[]} */
  let snippets = [];
  /** @type {HTMLElement[]} */
  let buttons = [];
  let chosen = 0;

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    for (const [at, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(at === index));
      button.setAttribute('tabindex', at === index ? '0' : '-1');
    }
    panel.setAttribute('aria-labelledby', buttons[index]?.id ?? '');
    const snippet = snippets[index];
    code.textContent = input === undefined || snippet === undefined ? '' : snippet.write(input);
    note.textContent = snippet?.note ?? '';
  }

  tabs.addEventListener('keydown', (event) => {
    const last = snippets.length - 1;
    const targets = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: last };
    const target = targets[/** @type {keyof typeof targets} */ (event.key)];
    if (target === undefined) return;
    event.preventDefault();
    choose((target + snippets.length) % snippets.length);
    buttons[chosen]?.focus();
  });

  return {
    /**
     * Keeps the chosen tab if it is still there.
     *
     * @param {readonly Snippet<Input>[]} shown
     * @param {Input} written
     */
    show(shown, written) {
      const name = snippets[chosen]?.name;
      input = written;
      if (shown !== snippets) {
        snippets = shown;
        buttons = shown.map((snippet, index) =>
          element(
            'button',
            {
              type: 'button',
              role: 'tab',
              id: `${id}-${snippet.name}`,
              'aria-controls': id,
              onclick: () => choose(index),
            },
            snippet.label,
          ),
        );
        tabs.replaceChildren(...buttons);
      }
      choose(
        Math.max(
          0,
          shown.findIndex((snippet) => snippet.name === name),
        ),
      );
    },
  };
}
