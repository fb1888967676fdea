import { integer, list, oneOf, SettingError } from './setting-forms.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** How traces are sent. The exporter itself reads the endpoint, its headers, time-out, compression and certificates. */
export interface TracingSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly sampler: (typeof SAMPLERS)[number];
  /** For the samplers by ratio: the share of traces that are kept. */
  readonly samplerRatio: number;
  /** Finished spans wait in a queue of this length at most; further ones are dropped. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  /** Between two exports. */
  readonly delayMs: number;
  /** Of one export, second tries included. */
  readonly exportTimeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadTracingSettings {
  /** `undefined`: nothing is traced. */
  readonly settings: TracingSettings | undefined;
  /** What cannot be used, each with its variable; none where nothing is traced. */
  readonly mistakes: readonly string[];
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/**
 * Reads OpenTelemetry's own variables (opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables and
 * …/protocol/exporter, seen 2026-11). An empty variable counts as unset.
 *
 * Traces are made when an OTLP endpoint is named or `OTEL_TRACES_EXPORTER` is `otlp`, and not when that is `none` or
 * `OTEL_SDK_DISABLED` is `true`. By the specification alone every process without any variable would send them to
 * port 4318 of its own machine.
 */
export function readTracingSettings(env: Environment): ReadTracingSettings {
  const mistakes: string[] = [];

  function read<T>(variables: readonly string[], fallback: string, parse: (text: string) => T): T {
    const variable = variables.find((name) => textIn(env, name) !== '');
    if (variable === undefined) return parse(fallback);
    try {
      return parse(textIn(env, variable));
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      mistakes.push(`${variable}: ${error.message}`);
      return parse(fallback);
    }
  }

  if (!isSwitchedOn(env)) return { settings: undefined, mistakes };
  read(['OTEL_TRACES_EXPORTER'], 'otlp', list(inLowerCase(oneOf(['otlp']))));
  for (const variable of ENDPOINTS) read([variable], 'http://localhost:4318', httpUrl);
  const sampler = read(['OTEL_TRACES_SAMPLER'], 'parentbased_always_on', inLowerCase(oneOf(SAMPLERS)));
  const settings: TracingSettings = {
    protocol: read(
      ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
      'http/protobuf',
      inLowerCase(protocol),
    ),
    sampler,
    // The other samplers take no argument; what is left over of one is no mistake.
    samplerRatio: sampler.endsWith('traceidratio') ? read(['OTEL_TRACES_SAMPLER_ARG'], '1', ratio) : 1,
    maxQueueSize: read(['OTEL_BSP_MAX_QUEUE_SIZE'], '2048', integer(1, 100_000)),
    maxBatchSize: read(['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'], '512', integer(1, 100_000)),
    delayMs: read(['OTEL_BSP_SCHEDULE_DELAY'], '5000', integer(1, 3_600_000)),
    exportTimeoutMs: read(['OTEL_BSP_EXPORT_TIMEOUT'], '30000', integer(1, 3_600_000)),
  };
  return { settings, mistakes };
}

function isSwitchedOn(env: Environment): boolean {
  if (textIn(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  const exporter = textIn(env, 'OTEL_TRACES_EXPORTER').toLowerCase();
  if (exporter !== '') return exporter !== 'none';
  return ENDPOINTS.some((variable) => textIn(env, variable) !== '');
}

function textIn(env: Environment, variable: string): string {
  return env[variable]?.trim() ?? '';
}

function inLowerCase<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => parse(text.toLowerCase());
}

function protocol(text: string): (typeof PROTOCOLS)[number] {
  if (text !== 'grpc') return oneOf(PROTOCOLS)(text);
  throw new SettingError('grpc is not supported: use http/protobuf, which collectors take on port 4318 as a rule');
}

/** The message does not repeat it: it may hold a password. */
function httpUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new SettingError('must be an http or https URL such as http://localhost:4318');
}

function ratio(text: string): number {
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new SettingError(`must be a number from 0 to 1, is "${text}"`);
}
