import { useState } from 'preact/hooks';

const SHOWN_MS = 2_000;

/** A button that copies a text and reports the outcome. */
export function CopyButton({ label = 'Copy', text }: { label?: string; text: string }) {
  const [outcome, setOutcome] = useState('');

  async function copy() {
    setOutcome((await copyText(text)) ? 'Copied' : 'Not copied');
    setTimeout(() => setOutcome(''), SHOWN_MS);
  }

  return (
    <button type="button" class="copy" aria-live="polite" onClick={copy}>
      {outcome || label}
    </button>
  );
}

/** A URL, with a button that copies it. */
export function CopiedUrl({ id, url }: { id: string; url: string }) {
  return (
    <div class="entry">
      <pre id={id} dir="ltr">
        <code>{url}</code>
      </pre>
      <CopyButton label="Copy URL" text={url} />
    </div>
  );
}

/** Browsers offer `navigator.clipboard` to secure origins only, so pages of other origins copy in the older way. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const focused = document.activeElement;
  const field = document.body.appendChild(document.createElement('textarea'));
  field.value = text;
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
