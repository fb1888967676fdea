declare module 'autocannon' {
  interface Request {
    readonly headers?: Readonly<Record<string, string>>;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    /** Requests a second over all connections; as many as are answered without it. */
    readonly overallRate?: number;
    /** Sent on a connection before the first of them is answered. */
    readonly pipelining?: number;
    /** Threads that send; without it the caller's own. */
    readonly workers?: number;
    readonly requests?: readonly { readonly setupRequest: (request: Request) => Request }[];
  }

  interface Result {
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    readonly requests: { readonly total: number };
    readonly throughput: { readonly total: number };
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
  }

  function autocannon(options: Options): Promise<Result>;
  export = autocannon;
}
