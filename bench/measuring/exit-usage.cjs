// NODE_OPTIONS loads this file into every Node process of a measured command. When the process exits, this file records
// its CPU time and peak memory. The file is short plain JavaScript, because the measurement includes its loading.
"use strict";
const { appendFileSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

const file = process.env.BENCH_USAGE_FILE;
if (isMainThread && file !== undefined) {
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const line = { pid: process.pid, cpuUs: userCPUTime + systemCPUTime, maxRssKb: maxRSS };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  });
}
