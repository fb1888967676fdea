import { describe, expect, test } from 'vitest';
import { readTracingSettings } from './tracing-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('OpenTelemetry’s variables', () => {
  test.each([
    {},
    { OTEL_SERVICE_NAME: 'pictures', OTEL_TRACES_SAMPLER: 'always_on', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318/v1/metrics' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
  ])('%o: no traces', (env) => {
    expect(readTracingSettings(env)).toEqual({ settings: undefined, mistakes: [] });
  });

  test.each([
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/traces' },
    { OTEL_TRACES_EXPORTER: 'OTLP' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'yes' },
    { ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://elsewhere' },
  ])('%o: traces, with the defaults of the specification', (env) => {
    expect(readTracingSettings(env)).toEqual({
      settings: {
        protocol: 'http/protobuf',
        sampler: 'parentbased_always_on',
        samplerRatio: 1,
        maxQueueSize: 2_048,
        maxBatchSize: 512,
        delayMs: 5_000,
        exportTimeoutMs: 30_000,
      },
      mistakes: [],
    });
  });

  test('of two protocols, that of traces counts', () => {
    const { settings, mistakes } = readTracingSettings({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    });
    expect(settings?.protocol).toBe('http/json');
    expect(mistakes).toEqual([]);
  });

  test.each([
    ['OTEL_TRACES_EXPORTER', 'console'],
    ['OTEL_TRACES_EXPORTER', 'otlp,zipkin'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '1e9'],
    ['OTEL_BSP_SCHEDULE_DELAY', '0'],
  ])('%s=%s is refused where traces are wanted', (variable, value) => {
    const { mistakes } = readTracingSettings({ ...ENDPOINT, [variable]: value });
    expect(mistakes).toEqual([expect.stringContaining(`${variable}: `)]);
  });

  test('a ratio must be one', () => {
    const sampler = { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio' };
    expect(readTracingSettings({ ...sampler, OTEL_TRACES_SAMPLER_ARG: '0.25' }).settings?.samplerRatio).toBe(0.25);
    expect(readTracingSettings({ ...sampler, OTEL_TRACES_SAMPLER_ARG: '25' }).mistakes).toHaveLength(1);
  });

  test('a mistake in an endpoint is told without its text, which may hold a password', () => {
    const { mistakes } = readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:password@collector' });
    expect(mistakes).toHaveLength(1);
    expect(mistakes.join()).not.toContain('password');
  });
});
