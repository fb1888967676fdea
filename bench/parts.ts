import type { EncodeFigures } from './encode.ts';
import type { LimiterFigures } from './limiter.ts';
import type { QualityFigures } from './quality.ts';
import type { Row } from './report.ts';

export type Print = (line: string) => void;

export interface PartOptions {
  /** The larger of the two sizes that `scale` compares. */
  readonly size: number;
}

/** Runs one part of the bench. It may print its progress. */
export type Part = (print: Print, options: PartOptions) => Promise<Row[]>;

/** These parts take long, and run only when `--only` names them. */
export const PARTS_ON_DEMAND: ReadonlySet<string> = new Set(['scale']);

/** Every part by its name, in order. Each is loaded when it runs, so that no part loads another's libraries. */
export const PARTS: Readonly<Record<string, Part>> = {
  async hot(print) {
    const { benchHot } = await import('./hot.ts');
    return benchHot(print);
  },

  async limiter() {
    const { measureLimiter } = await import('./limiter.ts');
    return limiterRows(measureLimiter());
  },

  async encode(print) {
    const { measureEncoding } = await import('./encode.ts');
    print('encoding each picture by the pool and by the bare library');
    return (await measureEncoding()).map(encodeRow);
  },

  async quality(print) {
    const { measureQuality } = await import('./quality.ts');
    print('comparing what each format and effort makes of the same pictures');
    return (await measureQuality()).map(qualityRow);
  },

  async peers(print) {
    const { benchPeers } = await import('./peers.ts');
    return benchPeers(print);
  },

  async refine(print) {
    const { benchRefine } = await import('./refine.ts');
    return benchRefine(print);
  },

  async busy(print) {
    const { benchBusy } = await import('./busy.ts');
    return benchBusy(print);
  },

  async idle(print) {
    const { benchIdle } = await import('./idle.ts');
    return benchIdle(print);
  },

  async first(print) {
    const { benchFirst } = await import('./first.ts');
    return benchFirst(print);
  },

  async once() {
    const { benchOnce } = await import('./once.ts');
    return benchOnce();
  },

  async memory(print) {
    const { benchMemory } = await import('./memory.ts');
    return benchMemory(print);
  },

  async start() {
    const { benchStart } = await import('./start.ts');
    return benchStart();
  },

  async catalog(print) {
    const { benchCatalog } = await import('./catalog.ts');
    return benchCatalog(print);
  },

  async scale(print, { size }) {
    const { benchScale } = await import('./scale.ts');
    return benchScale(print, size);
  },

  async redis(print) {
    const { benchRedis } = await import('./redis.ts');
    const { benchRedisHot } = await import('./redis-hot.ts');
    return [...(await benchRedisHot(print)), ...(await benchRedis())];
  },
};

const MAX_BYTES_PER_CLIENT = 250;
const MAX_DECISION_NS = 3_000;
const MAX_PAUSE_MS = 20;

function limiterRows(figures: LimiterFigures): Row[] {
  const { clients, bytesPerClient, newClientNs, knownClientNs } = figures;
  return [
    {
      part: 'limiter',
      what: `memory for each of ${clients} clients with one request`,
      measured: `${bytesPerClient.toFixed(0)} bytes`,
      target: `at most ${MAX_BYTES_PER_CLIENT} bytes`,
      isMet: bytesPerClient <= MAX_BYTES_PER_CLIENT,
      figures,
    },
    decisionRow('a client’s first decision', newClientNs),
    decisionRow('a client’s second decision', knownClientNs),
    ...(['IPv4', 'IPv6'] as const).map((kind) => pauseRow(kind, figures)),
  ];
}

function pauseRow(kind: 'IPv4' | 'IPv6', { clients, pauses }: LimiterFigures): Row {
  const { cpuMs, wallMs } = pauses[kind];
  const cpu = `${cpuMs.median.toFixed(1)} (${cpuMs.lowest.toFixed(1)}–${cpuMs.highest.toFixed(1)}) ms of CPU time`;
  return {
    part: 'limiter',
    what: `longest of ${clients} decisions for new ${kind} clients`,
    measured: `${cpu}, ${wallMs.lowest.toFixed(1)}–${wallMs.highest.toFixed(1)} ms by the clock`,
    target: `at most ${MAX_PAUSE_MS} ms of CPU time`,
    isMet: cpuMs.median <= MAX_PAUSE_MS,
  };
}

function decisionRow(what: string, ns: number): Row {
  return {
    part: 'limiter',
    what: `${what}, CPU time`,
    measured: `${ns.toFixed(0)} ns`,
    target: `at most ${MAX_DECISION_NS} ns`,
    isMet: ns <= MAX_DECISION_NS,
  };
}

const MAX_ENCODE_RATIO = 1.15;
const MAX_ENCODE_EXTRA_MS = 5;

function encodeRow(figures: EncodeFigures): Row {
  const { variant, format, pooledMs, bareMs, bytes } = figures;
  const pooled = `${pooledMs.toFixed(1)} ms / ${bareMs.toFixed(1)} ms = ${(pooledMs / bareMs).toFixed(2)}`;
  return {
    part: 'encode',
    what: `${variant}.${format} (${(bytes / 1024).toFixed(0)} KiB): Pennant / bare sharp`,
    measured: pooled,
    target: `at most ${MAX_ENCODE_RATIO} + ${MAX_ENCODE_EXTRA_MS} ms`,
    isMet: pooledMs <= MAX_ENCODE_RATIO * bareMs + MAX_ENCODE_EXTRA_MS,
    figures,
  };
}

function qualityRow(figures: QualityFigures): Row {
  const { pictures, format, effort, meanSsim, worstSsim, meanBytes, meanMs } = figures;
  const size = `${(meanBytes / 1024).toFixed(0)} KiB, ${meanMs.toFixed(0)} ms`;
  return {
    part: 'quality',
    what: `${format}, ${effort}, ${pictures}`,
    measured: `SSIM ${meanSsim.toFixed(4)} (worst ${worstSsim.toFixed(4)}), ${size}`,
    figures,
  };
}
