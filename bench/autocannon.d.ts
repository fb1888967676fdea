declare module 'autocannon' {
  interface Request {
    readonly headers?: Readonly<Record<string, string>>;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    /** Requests per second over all connections. Default: as many as possible. */
    readonly overallRate?: number;
    /** Requests that are sent on a connection before the first response. */
    readonly pipelining?: number;
    /** Number of sending threads. Default: the caller's own thread. */
    readonly workers?: number;
    readonly requests?: readonly { readonly setupRequest: (request: Request) => Request }[];
  }

  interface Result {
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    readonly requests: { readonly total: number };
  }

  function autocannon(options: Options): Promise<Result>;
  export = autocannon;
}
