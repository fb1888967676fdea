import { useEffect, useState } from 'preact/hooks';
import { formatSeconds } from '../parts/numbers.ts';
import type { Loading, Problem } from './loading.ts';

/** What hinders the loading, with a button to try again. Screen readers announce it. */
export function Notice({ of }: { of: Loading<unknown> | undefined }) {
  const problem = of?.state.value.problem;
  return (
    <div role="status">
      {problem && <Explanation key={problem.message + problem.fields.requestId} problem={problem} retry={of.retry} />}
    </div>
  );
}

function Explanation({ problem, retry }: { problem: Problem; retry: () => void }) {
  const { title, detail, requestId, retryAfterMs = 0, canRetry } = problem.fields;
  return (
    <div class="notice">
      <p>
        <strong>{title}.</strong> {detail} {requestId && <span class="muted">Request {requestId}.</span>}
      </p>
      {canRetry && <RetryButton afterMs={retryAfterMs} retry={retry} />}
    </div>
  );
}

/** A button that cannot be used before the time that the response names. */
function RetryButton({ afterMs, retry }: { afterMs: number; retry: () => void }) {
  const [leftMs, setLeftMs] = useState(afterMs);
  useEffect(() => {
    const endsAt = performance.now() + afterMs;
    const timer = setInterval(() => setLeftMs(Math.max(0, endsAt - performance.now())), 250);
    return () => clearInterval(timer);
  }, [afterMs]);
  return (
    <button type="button" disabled={leftMs > 0} onClick={retry}>
      {leftMs > 0 ? `Try again in ${formatSeconds(leftMs)}` : 'Try again'}
    </button>
  );
}
