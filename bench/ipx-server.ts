import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// IPX for a folder of images, configured as in its documentation. It is outside of the project, so there are no types.

const [modulePath = '', directory = ''] = process.argv.slice(2);
const { createIPX, createIPXNodeServer, ipxFSStorage } = await import(modulePath);

const server = createServer(createIPXNodeServer(createIPX({ storage: ipxFSStorage({ dir: directory }) })));
server.listen(0, '127.0.0.1', () => console.log(`listening on ${(server.address() as AddressInfo).port}`));
