import { useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { Segmented } from './fields.tsx';

export interface Snippet {
  readonly label: string;
  readonly text: string;
  /** Shown below the text. */
  readonly note?: string;
}

/** Texts to copy, of which one is shown. */
export function Snippets({ label, snippets }: { label: string; snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState('');
  const shown = snippets.find((snippet) => snippet.label === chosen) ?? snippets[0];
  return (
    <div class="snippets stack tight">
      <div class="row options heading">
        <Segmented
          label={label}
          choices={snippets.map((snippet) => ({ value: snippet.label, label: snippet.label }))}
          value={shown?.label ?? ''}
          onChoose={setChosen}
        />
        <CopyButton text={shown?.text ?? ''} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text can be reached, because it scrolls. */}
      <pre tabIndex={0} dir="ltr">
        <code>{shown?.text}</code>
      </pre>
      {shown?.note && <p class="muted">{shown.note}</p>}
    </div>
  );
}
