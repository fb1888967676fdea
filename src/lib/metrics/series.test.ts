import { expect, test } from 'vitest';
import { createCounter, createHistogram, writeText } from './series.ts';

test('a counter and a histogram are written in Prometheus’s text format', () => {
  const calls = createCounter('calls_total', 'Calls, by\nname: a \\ is escaped.', ['name', 'outcome']);
  calls.inc({ name: 'a "b" \\ \n', outcome: 'found' });
  calls.inc({ name: 'c', outcome: 'failed' }, 0);
  calls.inc({ name: 'a "b" \\ \n', outcome: 'found' }, 2);
  const seconds = createHistogram('seconds', 'Times.', ['name'], [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 3]) seconds.observe({ name: 'c' }, value);
  seconds.begin({ name: 'd' });
  const limit = {
    name: 'limit',
    help: 'A limit.',
    type: 'gauge' as const,
    samples: () => [{ labels: {}, value: Infinity }],
  };
  expect(writeText([calls, seconds, limit])).toBe(`# HELP calls_total Calls, by\\nname: a \\\\ is escaped.
# TYPE calls_total counter
calls_total{name="a \\"b\\" \\\\ \\n",outcome="found"} 3
calls_total{name="c",outcome="failed"} 0

# HELP seconds Times.
# TYPE seconds histogram
seconds_bucket{le="0.1",name="c"} 2
seconds_bucket{le="1",name="c"} 3
seconds_bucket{le="+Inf",name="c"} 4
seconds_sum{name="c"} 3.65
seconds_count{name="c"} 4
seconds_bucket{le="0.1",name="d"} 0
seconds_bucket{le="1",name="d"} 0
seconds_bucket{le="+Inf",name="d"} 0
seconds_sum{name="d"} 0
seconds_count{name="d"} 0

# HELP limit A limit.
# TYPE limit gauge
limit +Inf
`);
});
