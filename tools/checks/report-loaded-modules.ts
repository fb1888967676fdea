import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/* For `node --import`: writes the URL of every module that the process and its children load to a file. */

const report = process.env.LOADED_MODULES_REPORT;
if (report === undefined) throw new Error('LOADED_MODULES_REPORT names no file.');
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(report, `${url}\n`);
    return nextLoad(url, context);
  },
});
