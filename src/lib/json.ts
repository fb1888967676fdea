export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a message; `undefined` for everything but a JSON object. */
export function parseJsonObject(message: string | Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(typeof message === 'string' ? message : new TextDecoder().decode(message));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
