import { existsSync } from 'node:fs';

/** Files that Docker and Podman create in their containers. */
const MARKS = ['/.dockerenv', '/run/.containerenv'];
/** Variables that Kubernetes, and Podman or systemd-nspawn, set in theirs. */
const VARIABLES = ['KUBERNETES_SERVICE_HOST', 'container'];

/** True in a container of an engine that marks its containers. */
export function isInContainer(env: Readonly<Record<string, string | undefined>>, exists = existsSync): boolean {
  return VARIABLES.some((name) => (env[name] ?? '') !== '') || MARKS.some((path) => exists(path));
}
