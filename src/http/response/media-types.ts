/** RFC 8259. */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
/** RFC 9457. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
