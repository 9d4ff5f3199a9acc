import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

/** What puts another module in the place of one, and what holds the evidence of hundreds of runs: what they leave behind is nobody else's. */
const apart = ["src/app/load/send-load.test.ts", "src/selftest/**/*.test.ts"];

// The workers, and the commands that tests start, load the harness from what V8 kept of it.
process.env["NODE_COMPILE_CACHE"] = fileURLToPath(new URL(".cache/compile", import.meta.url));

export default defineConfig({
  test: {
    globalSetup: ["tools/vitest.global.mjs"],
    // Many tests wait, for what must not come: two workers for each core of a small machine. More only take time from the servers.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["src/**/*.test.ts", "k6/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: apart,
          // Loading the harness anew for each file took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "apart", include: apart, isolate: true } },
    ],
    setupFiles: ["tools/vitest.setup.ts"],
    // A name that is cut off is no name.
    taskTitleValueFormatTruncate: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
