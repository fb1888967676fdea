/** From `node:http`. Its `import` would also load WebSocket and fetch at every start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
