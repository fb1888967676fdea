/** Of `node:http`. Its `import` would also load what its exports of WebSocket and fetch stand for, at every start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
