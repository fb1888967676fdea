import type { ComponentChildren } from 'preact';

/** A state in words, with a dot whose form and color say whether all is well. */
export function Status({ isWell, children }: { isWell: boolean; children: ComponentChildren }) {
  return (
    <span class="status">
      <i class={isWell ? 'dot' : 'dot trouble'} />
      {children}
    </span>
  );
}
