import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "k6/**/*.test.ts", "tools/**/*.test.ts"],
    globalSetup: ["tools/vitest.global.mjs"],
    setupFiles: ["tools/vitest.setup.ts"],
    // A name that is cut off is no name.
    taskTitleValueFormatTruncate: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // More workers than the two cores of a small machine only take time from the servers under test.
    maxWorkers: 2,
  },
});
