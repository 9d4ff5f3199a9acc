// Loaded into every Node process of a measured command (NODE_OPTIONS): at its end it says what the process used. Plain JavaScript, and as
// little as can be: it starts with what it measures.
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
