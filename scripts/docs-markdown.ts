/** A Markdown table. Bars inside of cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return [cells[0], `|${'---|'.repeat(head.length)}`, ...cells.slice(1)].join('\n');
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export function code(text: string): string {
  return `\`${text}\``;
}
