import type { ComponentChildren } from 'preact';

interface TableProps {
  /** Numbers are aligned on the right. */
  readonly columns: readonly { readonly label: string; readonly isNumber?: boolean }[];
  readonly rows: readonly { readonly cells: readonly ComponentChildren[]; readonly class?: string }[];
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
        {rows.map(({ cells, class: name }, index) => (
          <tr key={index} class={name}>
            {cells.map((cell, at) => (
              <td key={at} class={classes[at]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
