import type { ComponentChildren } from 'preact';

interface CardProps {
  readonly id: string;
  readonly heading: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A section of a page, with its heading. */
export function Card({ id, heading, class: more = '', children }: CardProps) {
  return (
    <section id={id} class={`card stack ${more}`} aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>{heading}</h2>
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
