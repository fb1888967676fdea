import { useId, useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';

export interface Snippet {
  readonly label: string;
  readonly text: string;
  /** Shown below the text. */
  readonly note?: string;
}

/** Texts to copy, one tab each (ARIA tabs pattern). */
export function Snippets({ label, snippets }: { label: string; snippets: readonly Snippet[] }) {
  const id = useId();
  const [chosen, setChosen] = useState('');
  const index = Math.max(
    0,
    snippets.findIndex((snippet) => snippet.label === chosen),
  );
  const shown = snippets[index];

  function move(event: KeyboardEvent) {
    const targets = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 };
    const target = targets[event.key as keyof typeof targets];
    if (target === undefined) return;
    event.preventDefault();
    const next = (target + snippets.length) % snippets.length;
    setChosen(snippets[next]?.label ?? '');
    (event.currentTarget as HTMLElement).querySelectorAll('button')[next]?.focus();
  }

  return (
    <div class="snippets stack tight">
      <div class="row heading">
        <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
          {snippets.map((snippet, at) => (
            <button
              key={snippet.label}
              type="button"
              role="tab"
              id={`${id}-${at}`}
              aria-controls={id}
              aria-selected={snippet === shown}
              tabIndex={snippet === shown ? 0 : -1}
              onClick={() => setChosen(snippet.label)}
            >
              {snippet.label}
            </button>
          ))}
        </div>
        <CopyButton text={shown?.text ?? ''} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel can be reached, because it scrolls (ARIA tabs pattern). */}
      <pre id={id} role="tabpanel" aria-labelledby={`${id}-${index}`} tabIndex={0} dir="ltr">
        <code>{shown?.text}</code>
      </pre>
      {shown?.note && <p class="muted">{shown.note}</p>}
    </div>
  );
}
