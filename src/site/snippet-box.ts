import { createCopyButton } from './copy.ts';
import { element } from './dom.ts';
import { isLoopback } from './instance.ts';

export interface Snippet<Input> {
  readonly name: string;
  readonly label: string;
  readonly write: (input: Input) => string;
  /** Shown below the text. */
  readonly note?: string;
}

/**
 * Texts to copy, one tab each (ARIA tabs pattern).
 *
 * @param naming `id` is unique in the page
 */
export function createSnippetBox<Input>(container: HTMLElement, { id, label }: { id: string; label: string }) {
  const code = element('code', {});
  const panel = element('pre', { id, role: 'tabpanel', tabindex: 0, dir: 'ltr' }, code);
  const tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
  const note = element('p', { class: 'hint snippet-note' });
  const reach = element('p', { class: 'hint snippet-note' });
  const copy = createCopyButton(
    'Copy',
    () => code.textContent ?? '',
    () => code,
  );
  container.replaceChildren(element('div', { class: 'snippet-bar' }, tabs, copy), panel, note, reach);
  let input: Input | undefined;
  let snippets: readonly Snippet<Input>[] = [];
  let buttons: HTMLElement[] = [];
  let chosen = 0;

  function choose(index: number) {
    chosen = index;
    for (const [at, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(at === index));
      button.setAttribute('tabindex', at === index ? '0' : '-1');
    }
    panel.setAttribute('aria-labelledby', buttons[index]?.id ?? '');
    const snippet = snippets[index];
    code.textContent = input === undefined || snippet === undefined ? '' : snippet.write(input);
    note.textContent = snippet?.note ?? '';
    reach.textContent = describeReach(code.textContent ?? '');
  }

  tabs.addEventListener('keydown', (event) => {
    const last = snippets.length - 1;
    const targets = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: last };
    const target = targets[event.key as keyof typeof targets];
    if (target === undefined) return;
    event.preventDefault();
    choose((target + snippets.length) % snippets.length);
    buttons[chosen]?.focus();
  });

  return {
    /** Keeps the chosen tab if it is still there. */
    show(shown: readonly Snippet<Input>[], written: Input) {
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

const ORIGINS = /https?:\/\/[\w.[\]:-]+/g;

/** A hint if the text has a URL that works on this machine only; otherwise empty. */
export function describeReach(text: string) {
  const urls = (text.match(ORIGINS) ?? []).map((origin) => URL.parse(origin));
  const local = urls.find((url) => url !== null && isLoopback(url.hostname));
  if (local == null) return '';
  return `Works on this machine only: others cannot reach ${local.host}. With BASE_URL, an instance writes its public address.`;
}
