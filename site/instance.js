import { find } from './dom.js';

const REMEMBERED = 'pennant-instance';

/**
 * The instance that the page asks: named in the page's address (`?instance=…`), typed before, or told by the server
 * that the page comes from. Any instance may be asked from anywhere: its answers allow it (CORS).
 *
 * @param {{ onChange: () => void }} deps
 */
export async function createInstance({ onChange }) {
  const form = find('#instance-form', HTMLFormElement);
  const input = find('#instance', HTMLInputElement);
  const given = new URLSearchParams(location.search).get('instance') ?? sessionStorage.getItem(REMEMBERED);
  let origin = originOf(given ?? '') ?? (await findConfigured()) ?? '';
  input.value = origin;
  showLinks();

  function change() {
    const typed = originOf(input.value);
    if (typed === undefined) return input.reportValidity();
    input.value = typed;
    if (typed === origin) return;
    origin = typed;
    sessionStorage.setItem(REMEMBERED, origin);
    showLinks();
    onChange();
  }

  function showLinks() {
    find('#index-link', HTMLAnchorElement).href = `${origin}/`;
    find('#openapi-link', HTMLAnchorElement).href = `${origin}/openapi.json`;
    find('#problems-link', HTMLAnchorElement).href = `${origin}/problems`;
  }

  input.addEventListener('change', change);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change();
  });

  return { origin: () => origin, focus: () => input.focus() };
}

/** @param {string} text */
function originOf(text) {
  const url = URL.parse(text.trim());
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

/** Written by the private listener; another host may have such a file too, or none. */
async function findConfigured() {
  const response = await fetch('config.json').catch(() => undefined);
  if (response === undefined || !response.ok) return undefined;
  const { instance } = await response.json();
  return originOf(String(instance));
}
