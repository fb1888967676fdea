import autocannon from 'autocannon';

// Does the same as wrk-clients.lua, for machines without wrk.

const CLIENTS = 10_000;
const REQUESTS_EACH = 9;

const [url = '', seconds, connections, firstBlock, pauseMs] = process.argv.slice(2);
let sent = 0;

function nextAddress(): string {
  const block = Number(firstBlock) + Math.floor(sent / (CLIENTS * REQUESTS_EACH));
  const host = block * CLIENTS + (sent % CLIENTS);
  sent += 1;
  return `10.${(host >>> 16) & 255}.${(host >>> 8) & 255}.${host & 255}`;
}

const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  ...(Number(pauseMs) > 0 && { overallRate: (Number(connections) * 1000) / Number(pauseMs) }),
  requests: [
    {
      setupRequest: (request) => ({
        ...request,
        headers: { ...request.headers, 'X-Forwarded-For': nextAddress() },
      }),
    },
  ],
});

const figures = {
  answers: result.requests.total,
  seconds: result.duration,
  refused: result.non2xx,
  broken: result.errors + result.timeouts,
};
console.log(`RESULT ${JSON.stringify(figures)}`);
