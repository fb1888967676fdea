'use strict';

// A file of its own: Node 8 cannot read `import()`. No process of its own: signals must reach the service.
import('../dist/main.js');
