/** The JSON Schema of an object that has all of these properties, always. */
export function completeObject(properties: Readonly<Record<string, object>>) {
  return { type: 'object' as const, required: Object.keys(properties), properties };
}
