import { find } from './dom.ts';

const EXAMPLE = 'https://pennant.example';

/** The page shows nothing before. */
const MAX_CONFIG_MS = 5_000;

/**
 * The instance that the page uses: the one in the page's URL, otherwise the configured one. Pennant allows pages of
 * every origin (CORS).
 */
export async function createInstance({
  named,
  onChange,
}: {
  /** From the page's address, or empty. */
  readonly named: string;
  /** Another instance was entered. */
  readonly onChange: () => void;
}) {
  const details = find('#instance-details', HTMLDetailsElement);
  const form = find('#instance-form', HTMLFormElement);
  const input = find('#instance', HTMLInputElement);
  const fault = find('#instance-fault', HTMLElement);
  const configured = (await findConfigured()) ?? '';
  let origin = configured;
  show(named);

  /** @param problem empty: there is none */
  function report(problem: string) {
    fault.textContent = problem;
    input.setAttribute('aria-invalid', String(problem !== ''));
  }

  function change() {
    const { origin: typed, problem } = parseInstance(input.value, location.protocol);
    report(problem);
    if (typed === undefined) return;
    input.value = typed;
    if (typed === origin) return;
    origin = typed;
    showLinks();
    onChange();
  }

  /** @param text from the page's address; empty: the configured instance */
  function show(text: string) {
    const { origin: shown, problem } =
      text === '' ? { origin: configured, problem: '' } : parseInstance(text, location.protocol);
    report(problem);
    origin = shown ?? configured;
    input.value = shown ?? text;
    // Folded while the instance is the page's own.
    details.open = problem !== '' || origin !== configured || origin === '';
    showLinks();
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

  return {
    origin: () => origin,
    /** For the page's address: empty if it is the configured one. */
    named: () => (origin === configured ? '' : origin),
    show,
    focus() {
      details.open = true;
      input.focus();
    },
  };
}

/** Reads the address of an instance. @param pageProtocol of the page that will send the requests, such as `https:` */
export function parseInstance(text: string, pageProtocol: string): { origin: string | undefined; problem: string } {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^/]/i.test(trimmed))
    return refuse(`Enter an address that starts with http:// or https://, such as ${EXAMPLE}.`);
  const url = URL.parse(trimmed);
  // Browsers escape characters that no host name has.
  if (url === null || url.hostname.includes('%')) return refuse(`“${trimmed}” is not an address. Example: ${EXAMPLE}`);
  if (url.username !== '' || url.password !== '')
    return refuse('Pennant needs no login: remove the name before the @.');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return refuse(`Enter the address without a path: ${url.origin}`);
  }
  if (pageProtocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse('This page uses HTTPS, so browsers do not let it ask an http:// address.');
  }
  return { origin: url.origin, problem: '' };
}

function refuse(problem: string) {
  return { origin: undefined, problem };
}

function isLoopback(hostname: string) {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The private listener responds with its public address. Another web host may have such a file, or none. */
async function findConfigured() {
  try {
    const response = await fetch('config.json', { signal: AbortSignal.timeout(MAX_CONFIG_MS) });
    if (!response.ok) return undefined;
    const { instance } = await response.json();
    return parseInstance(String(instance), location.protocol).origin;
  } catch {
    // No response in time, or a page: some hosts respond with one to every path.
    return undefined;
  }
}
