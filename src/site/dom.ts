/** Creates an element. Attributes that begin with `on` are listeners; `false` and `undefined` ones are left out. */
export function element(
  tag: string,
  attributes: Record<string, unknown> = {},
  ...children: (Node | string | null)[]
): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value as EventListener);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** False for a click that opens a tab or a window. */
export function isPlainClick({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent) {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

/** Finds an element that the page must have. */
export function find<T extends Element>(selector: string, type: new () => T, root: ParentNode = document): T {
  const found = root.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`The page lacks ${selector}.`);
  return found;
}
