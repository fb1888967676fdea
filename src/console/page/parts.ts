import { element } from '../../site/dom.ts';

/** A table. Numbers are aligned on the right. The detail of a row is a row of its own below it. */
export function table(
  columns: readonly { label: string; isNumber?: boolean }[],
  rows: readonly { cells: readonly (Node | string)[]; className?: string; detail?: string }[],
) {
  const classOf = (at: number) => (columns[at]?.isNumber === true ? 'number' : undefined);
  const head = columns.map(({ label }, at) => element('th', { scope: 'col', class: classOf(at) }, label));
  const body = rows.flatMap(({ cells, className, detail }) => {
    const row = element(
      'tr',
      { class: className },
      ...cells.map((cell, at) => element('td', { class: classOf(at) }, cell)),
    );
    if (detail === undefined) return [row];
    row.classList.add('has-detail');
    return [row, element('tr', { class: 'detail' }, element('td', { colspan: columns.length }, detail))];
  });
  return element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...body));
}

/**
 * A name, its amount as text, and a bar of colored shares.
 *
 * @param parts shares of the whole bar, 0 to 1
 */
export function barRow(label: string, words: string, parts: readonly { name: string; share: number }[]) {
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' });
  for (const { name, share } of parts) {
    const part = element('i', { class: name });
    part.style.width = `${Math.min(1, share) * 100}%`;
    bar.append(part);
  }
  return element(
    'div',
    { class: 'bar-row' },
    element('span', {}, label),
    element('span', { class: 'number' }, words),
    bar,
  );
}

export function legend(entries: readonly { name: string; label: string; value: string }[]) {
  return entries.map(({ name, label, value }) =>
    element('li', {}, element('i', { class: `key ${name}` }), label, element('b', {}, value)),
  );
}

export function dot(isWell: boolean) {
  return element('i', { class: isWell ? 'dot' : 'dot trouble' });
}

export function mutedText(text: string) {
  return element('p', { class: 'muted' }, text);
}
