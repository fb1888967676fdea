import type { Loading } from './loading.ts';

/** What hinders the loading, with a button to try again. Screen readers announce it. */
export function Notice({ of }: { of: Loading<unknown> | undefined }) {
  const problem = of?.state.value.problem?.fields;
  return (
    <div role="status">
      {problem && (
        <div class="notice">
          <p>
            <strong>{problem.title}.</strong> {problem.detail}{' '}
            {problem.requestId && <span class="muted">Request {problem.requestId}.</span>}
          </p>
          {problem.canRetry && (
            <button type="button" onClick={of?.retry}>
              Try again
            </button>
          )}
        </div>
      )}
    </div>
  );
}
