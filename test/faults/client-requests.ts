import type { ServiceProcess } from '../helpers/process.ts';
import type { Attack } from './client-connections.ts';
import { exchange, findResponseFault } from './raw-connections.ts';
import { SMUGGLING_SHAPES } from './smuggling-shapes.ts';

const PIPELINED = 50;
const PIPELINE = Array.from({ length: PIPELINED }, (_, index) =>
  index % 2 === 0
    ? 'GET /UCPennantSample00000001A/avatar.webp?width=96 HTTP/1.1\r\nHost: a\r\n\r\n'
    : 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n',
).join('');

/** The attack with the highest throughput. */
export const PIPELINES: Attack = {
  name: `pipelines of ${PIPELINED} requests, 4 at a time`,
  async run({ port }, untilMs) {
    const faults: string[] = [];
    let pipelines = 0;
    const worker = async () => {
      while (performance.now() < untilMs && pipelines < 500) {
        pipelines += 1;
        const { responses } = await exchange(port, Buffer.from(PIPELINE), { responses: PIPELINED });
        const isInOrder = responses.every(({ status }, index) => status === (index % 2 === 0 ? 200 : 404));
        if (responses.length !== PIPELINED || !isInOrder) faults.push(`${responses.length} responses, or out of order`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    return { done: `${pipelines * PIPELINED} responses, each in its place`, faults };
  },
};

/** Attacks by the content of requests. */
export const REQUEST_ATTACKS: readonly Attack[] = [
  PIPELINES,
  {
    name: 'request-smuggling shapes',
    async run({ port }) {
      const faults: string[] = [];
      for (const { name, bytes, expected } of SMUGGLING_SHAPES) {
        const { responses, isClosed } = await exchange(port, Buffer.from(bytes, 'latin1'), { quietMs: 1_500 });
        const statuses = responses.map(({ status }) => status).join(', ');
        const isRefused = responses.length === 1 && isClosed && (responses[0]?.status ?? 0) >= 400;
        if (responses.length !== 1 || statuses === '404') faults.push(`${name}: returned ${statuses}`);
        else if (expected === 'refused' && !isRefused) faults.push(`${name}: not refused and closed, but ${statuses}`);
      }
      return { done: `${SMUGGLING_SHAPES.length} shapes, none read as two requests`, faults };
    },
  },
  {
    name: 'every byte in path and query, raw and escaped',
    async run(service) {
      const requests = Array.from({ length: 256 }, (_, byte) => {
        const raw = String.fromCharCode(byte);
        const escaped = `%${byte.toString(16).padStart(2, '0')}`;
        return [`a${raw}z`, `a${escaped}z`].flatMap((text) => [
          `/@${text}`,
          `/${text}`,
          `/api/search?q=${text}`,
          `/search?q=${text}`,
          `/api/channels?ids=@${text}`,
        ]);
      }).flat();
      const faults = await faultsOfTargets(service, requests);
      return { done: `${requests.length} requests, all responded in JSON`, faults };
    },
  },
  {
    name: 'header injection through every repeated text',
    async run(service) {
      const faults: string[] = [];
      for (const bytes of injections()) {
        const { responses } = await exchange(service.port, Buffer.from(bytes, 'latin1'), { responses: 1 });
        const injected = responses.some(({ head }) => /injected/i.test(head));
        if (responses.length !== 1 || injected) faults.push(`${JSON.stringify(bytes)}: ${responses[0]?.head}`);
      }
      return { done: `${injections().length} requests, no field of theirs in a response`, faults };
    },
  },
];

async function faultsOfTargets({ port }: ServiceProcess, targets: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const target of targets) {
    const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 'latin1');
    const { responses } = await exchange(port, bytes);
    const [response] = responses;
    const fault =
      response === undefined || responses.length > 1 ? `${responses.length} responses` : findResponseFault(response);
    if (fault !== undefined) faults.push(`${JSON.stringify(target)}: ${fault}`);
  }
  return faults;
}

/** A line end in every spelling that a layer might decode, in every place of a request that a response could repeat. */
function injections(): string[] {
  const lineEnds = ['%0d%0a', '%0a', '%0d', '%E5%98%8D%E5%98%8A', '%u000d%u000a', '\\r\\n', '\u008d\u008a'];
  const values = lineEnds.map((lineEnd) => `x${lineEnd}X-Injected:%201`);
  const targets = values.flatMap((value) => [
    `/api/search?q=${value}`,
    `/api/channel/${value}?type=handle`,
    `/api/channels?ids=@pennantsample,${value}`,
    `/api/badge/@pennantsample?metric=${value}`,
    `/search?q=${value}`,
    `/${value}`,
    `/UCPennantSample00000001A/avatar?format=${value}`,
    `/UCPennantSample00000001A.${value}`,
    `/@${value}/tv`,
    `/UCPennantSample00000001A/${value}`,
  ]);
  const fields = ['Host', 'X-Request-Id', 'Origin', 'Accept', 'If-None-Match', 'X-Forwarded-Proto', 'X-Forwarded-For'];
  const echoed = [...fields, 'Access-Control-Request-Headers', 'Access-Control-Request-Method', 'Range', 'Cookie'];
  return [
    ...targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`),
    ...echoed.flatMap((field) =>
      values.map((value) => {
        const host = field === 'Host' ? '' : 'Host: a\r\n';
        return `${field.startsWith('Access') ? 'OPTIONS' : 'GET'} / HTTP/1.1\r\n${host}${field}: ${value}\r\n\r\n`;
      }),
    ),
  ];
}
