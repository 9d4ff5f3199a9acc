import { defineConfig } from "vitest/config";

/** A test that puts another module in the place of one: what it leaves behind is nobody else's. */
const mocking = ["src/app/load/send-load.test.ts"];

export default defineConfig({
  test: {
    globalSetup: ["tools/vitest.global.mjs"],
    // More workers than the two cores of a small machine only take time from the servers under test.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["src/**/*.test.ts", "k6/**/*.test.ts", "tools/**/*.test.ts"],
          exclude: mocking,
          // Loading the harness anew for each file took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "mocking", include: mocking, isolate: true } },
    ],
    setupFiles: ["tools/vitest.setup.ts"],
    // Commands that tests start load the harness from what V8 kept of it.
    env: { NODE_COMPILE_CACHE: new URL(".cache/compile", import.meta.url).pathname },
    // A name that is cut off is no name.
    taskTitleValueFormatTruncate: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
