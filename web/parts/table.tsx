import type { ComponentChildren } from 'preact';

interface TableProps {
  /** Numbers are aligned on the right. */
  readonly columns: readonly { readonly label: string; readonly isNumber?: boolean }[];
  /** The detail of a row is a row of its own below it. */
  readonly rows: readonly {
    readonly cells: readonly ComponentChildren[];
    readonly class?: string;
    readonly detail?: string;
  }[];
}

export function Table({ columns, rows }: TableProps) {
  const classes = columns.map(({ isNumber }) => (isNumber ? 'number' : undefined));
  return (
    <table>
      <thead>
        <tr>
          {columns.map(({ label }, at) => (
            <th key={label} scope="col" class={classes[at]}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ cells, detail, ...attributes }, index) => (
          <>
            <tr key={index} {...(detail ? { class: 'has-detail' } : attributes)}>
              {cells.map((cell, at) => (
                <td key={at} class={classes[at]}>
                  {cell}
                </td>
              ))}
            </tr>
            {detail && (
              <tr class="detail">
                <td class="muted" colSpan={columns.length}>
                  {detail}
                </td>
              </tr>
            )}
          </>
        ))}
      </tbody>
    </table>
  );
}
