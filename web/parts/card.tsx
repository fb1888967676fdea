import type { ComponentChildren } from 'preact';

interface CardProps {
  readonly id: string;
  readonly heading: string;
  readonly class?: string;
  /** Shown at the right of the heading. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section of a page, with its heading. */
export function Card({ id, heading, class: more = '', aside, children }: CardProps) {
  return (
    <section id={id} class={`card stack ${more}`} aria-labelledby={`${id}-heading`}>
      <div class="row heading">
        <h2 id={`${id}-heading`}>{heading}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** Values side by side, under their names. `null`: not known. */
export function Facts({ id, of }: { id?: string; of: Readonly<Record<string, string | null>> }) {
  return (
    <dl id={id} class="row facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={value === null ? 'muted' : ''}>{value ?? 'not available'}</dd>
        </div>
      ))}
    </dl>
  );
}
