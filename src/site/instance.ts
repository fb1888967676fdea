import { find } from './dom.ts';

const EXAMPLE = 'https://pennant.example';

/** The private listener passes on only requests with this field (src/console/own-requests.ts). */
const OWN_REQUEST = { 'x-pennant-console': 'playground' };

/** Where a request goes, and the header fields that it needs there. */
export interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The instance that the page uses: the one in the page's address, otherwise the configured one. */
export interface Instance {
  /** Empty: there is none. */
  readonly origin: () => string;
  /** The origin for the page's address: empty if it is the configured one. */
  readonly originInAddress: () => string;
  /** @param text from the page's address; empty: the configured instance */
  readonly show: (text: string) => void;
  /**
   * Where the page requests a URL of the instance. The page of the private listener sends its requests to that listener, which
   * passes them on without a limit, even if the public address of the instance does not work yet.
   */
  readonly routeOf: (url: string) => Route;
  /** Sets the function that is called when another instance was entered. */
  readonly onChange: (listener: () => void) => void;
  /** Opens the field for its address. */
  readonly focus: () => void;
}

/** The page waits for the configuration before it sends any request to an instance. */
const MAX_CONFIG_MS = 5_000;

/** The page works with any instance, because Pennant allows every origin (CORS). @param named from the page's address, or empty */
export async function createInstance(named: string): Promise<Instance> {
  const details = find('#instance-details', HTMLDetailsElement);
  const form = find('#instance-form', HTMLFormElement);
  const input = find('#instance', HTMLInputElement);
  const fault = find('#instance-fault', HTMLElement);
  const { instance: configured = '', requestPath } = await findConfigured();
  let origin = configured;
  let onChange = () => {};
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

  function show(text: string) {
    const { origin: shown, problem } =
      text === '' ? { origin: configured, problem: '' } : parseInstance(text, location.protocol);
    report(problem);
    origin = shown ?? configured;
    input.value = shown ?? text;
    // Folded while the page uses the configured instance.
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
    originInAddress: () => (origin === configured ? '' : origin),
    show,

    onChange(listener) {
      onChange = listener;
    },

    routeOf(url) {
      if (requestPath === undefined || !url.startsWith(`${configured}/`)) return { url, headers: {} };
      return { url: new URL(requestPath + url.slice(configured.length), location.href).href, headers: OWN_REQUEST };
    },

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
    return refuse('Pennant has no login: remove everything before the @.');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return refuse(`Enter the address without a path: ${url.origin}`);
  }
  if (pageProtocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse('This page uses HTTPS, so browsers block its requests to an http:// address.');
  }
  return { origin: url.origin, problem: '' };
}

function refuse(problem: string) {
  return { origin: undefined, problem };
}

/** Whether only this machine can reach the host. @param hostname as in a parsed URL */
export function isLoopback(hostname: string) {
  return /(?:^|\.)localhost$/.test(hostname) || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/**
 * Reads config.json. The private listener responds with the public address of the instance, and with the path below which it
 * passes requests on. Another web host may have a file with an address, or none.
 */
async function findConfigured(): Promise<{ instance?: string | undefined; requestPath?: string }> {
  try {
    const response = await fetch('config.json', { signal: AbortSignal.timeout(MAX_CONFIG_MS) });
    if (!response.ok) return {};
    const { instance, requestPath } = await response.json();
    if (typeof requestPath === 'string') return { instance: String(instance), requestPath };
    return { instance: parseInstance(String(instance), location.protocol).origin };
  } catch {
    // No response in time, or no JSON: some hosts respond to every path with a page.
    return {};
  }
}
