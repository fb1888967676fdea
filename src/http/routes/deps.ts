import type { FastifyRequest } from 'fastify';

/** What every route needs. */
export interface RouteDeps {
  /**
   * The origin that URLs in this request's answer start with.
   *
   * @throws AppError `malformed_request`
   */
  baseOf(request: FastifyRequest): string;
}
