/**
 * Options of `new Worker` for every thread of the service: it gets neither the flags nor the `NODE_OPTIONS` that the
 * operator gave to the process, so that what they load (`--import`), OpenTelemetry's SDK for example, runs once.
 */
export function cleanThreadOptions(): { readonly execArgv: string[]; readonly env: NodeJS.ProcessEnv } {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return { execArgv: [], env };
}
