import { element, find } from './dom.js';
import { SNIPPETS } from './snippets.js';

/** @typedef {import('./snippets.js').SnippetInput} SnippetInput */

const SAID_MS = 2000;

/**
 * The line to copy, in the notation that is chosen (ARIA tabs pattern).
 *
 * @param {HTMLElement} root
 */
export function createSnippetBox(root) {
  const tabs = find('#snippet-tabs', HTMLElement, root);
  const panel = find('#snippet', HTMLElement, root);
  const code = find('code', HTMLElement, panel);
  const copy = find('#copy', HTMLButtonElement, root);
  const said = find('#copied', HTMLElement, root);
  /** @type {SnippetInput | undefined} */
  let input;
  let chosen = 0;

  const buttons = SNIPPETS.map(({ name, label }, index) =>
    element(
      'button',
      { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'snippet', onclick: () => choose(index) },
      label,
    ),
  );
  tabs.append(...buttons);
  panel.tabIndex = 0;
  choose(0);

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    for (const [at, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(at === index));
      button.setAttribute('tabindex', at === index ? '0' : '-1');
    }
    panel.setAttribute('aria-labelledby', buttons[index]?.id ?? '');
    write();
  }

  function write() {
    code.textContent = input === undefined ? '' : (SNIPPETS[chosen]?.write(input) ?? '');
  }

  tabs.addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -chosen, End: SNIPPETS.length - 1 - chosen };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step === undefined) return;
    event.preventDefault();
    choose((chosen + step + SNIPPETS.length) % SNIPPETS.length);
    buttons[chosen]?.focus();
  });

  copy.addEventListener('click', async () => {
    const isCopied = await copyText(code);
    const text = isCopied ? 'Copied' : 'Press Ctrl+C to copy';
    copy.textContent = text;
    said.textContent = text;
    setTimeout(() => {
      copy.textContent = 'Copy';
      said.textContent = '';
    }, SAID_MS);
  });

  return {
    /** @param {SnippetInput} shown */
    show(shown) {
      input = shown;
      write();
    },
  };
}

/**
 * Browsers give the clipboard to secure origins only: elsewhere the text is selected, ready to be copied.
 *
 * @param {HTMLElement} code
 */
async function copyText(code) {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}
