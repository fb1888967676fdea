import { element, find } from './dom.ts';
import { isExact } from './identify.ts';
import { formatCount } from './numbers.ts';

interface Hit {
  readonly channelId: string;
  readonly title: string;
  readonly customUrl: string | null;
  readonly subscriberCount: string | null;
}

interface SearchBoxDeps {
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Hit[]>;
  readonly onSubmit: (text: string) => void;
}

/** The pause in typing after which the text is searched for. */
const PAUSE_MS = 400;
const MIN_CHARACTERS = 2;

/** The search field with its list of suggestions (ARIA combobox pattern with a list). */
export function createSearchBox(form: HTMLFormElement, { search, onSubmit }: SearchBoxDeps) {
  const input = find('#query', HTMLInputElement, form);
  const list = find('#suggestions', HTMLElement, form);
  let hits: readonly Hit[] = [];
  let active = -1;
  let searching = new AbortController();
  let pause: ReturnType<typeof setTimeout> | undefined;

  function close() {
    clearTimeout(pause);
    searching.abort();
    form.classList.remove('is-searching');
    hits = [];
    render();
  }

  function activate(index: number) {
    active = index;
    for (const [at, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', String(at === active));
      if (at === active) option.scrollIntoView({ block: 'nearest' });
    }
    if (active === -1) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `suggestion-${active}`);
  }

  function render() {
    list.replaceChildren(...hits.map(option));
    list.hidden = hits.length === 0;
    input.setAttribute('aria-expanded', String(hits.length > 0));
    activate(-1);
  }

  function option(hit: Hit, index: number) {
    const { title, customUrl, subscriberCount } = hit;
    const count = subscriberCount === null ? null : element('span', { class: 'count' }, formatCount(subscriberCount));
    return element(
      'div',
      {
        id: `suggestion-${index}`,
        role: 'option',
        'aria-selected': 'false',
        onmousedown: (event: Event) => event.preventDefault(),
        onclick: () => choose(hit),
      },
      element('span', { class: 'name', dir: 'auto' }, title),
      element('span', { class: 'more', dir: 'auto' }, customUrl ?? hit.channelId),
      count,
    );
  }

  function choose(hit: Hit) {
    onSubmit(hit.channelId);
    setText(hit.customUrl ?? hit.channelId);
  }

  function setText(text: string) {
    close();
    input.value = text;
  }

  async function suggest() {
    const text = input.value.trim();
    searching.abort();
    if (text.length < MIN_CHARACTERS || isExact(text)) return close();
    searching = new AbortController();
    const { signal } = searching;
    form.classList.add('is-searching');
    const found = await search(text, signal).finally(() => form.classList.toggle('is-searching', signal.aborted));
    if (signal.aborted) return;
    hits = found;
    render();
  }

  input.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(suggest, PAUSE_MS);
  });

  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return close();
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || hits.length === 0) return;
    event.preventDefault();
    // There is one position more than there are hits: that of the typed text.
    activate(((active + 1 + step + hits.length + 1) % (hits.length + 1)) - 1);
  });

  input.addEventListener('blur', close);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const hit = hits[active];
    if (hit !== undefined) return choose(hit);
    close();
    onSubmit(input.value);
  });

  return {
    setText,

    offer(offered: readonly Hit[]) {
      hits = offered;
      input.focus();
      render();
    },

    focus: () => input.focus(),
  };
}
