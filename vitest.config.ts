import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// @ts-expect-error plain JavaScript, for it runs on the host's Node.
import { compileCache } from "./tools/setup.mjs";

/** Tests that need a worker of their own: one mocks a module; in a full run, those of the selftest keep the evidence of hundreds of runs. */
const mocking = "src/app/load/send-load.test.ts";
const apart = process.env["CONFORMANCE_TESTS"] === undefined ? [] : ["src/selftest/**/*.test.ts"];

/** Globs of files that another command of the same check runs completely, separated by commas. */
const leftOut = (process.env["CONFORMANCE_LEFT_OUT"] ?? "").split(",").filter((glob) => glob !== "");

/** The slowest files, which start first: the other workers would wait for one that starts last. */
const longest = [
  "src/selftest/selftest.test.ts",
  "src/selftest/wire/wire.test.ts",
  "src/selftest/costs.test.ts",
  "src/selftest/load/plans.test.ts",
  "src/selftest/load/legal-variants.test.ts",
  "src/selftest/manual-mutations/manual-mutations.test.ts",
  "src/run/disturbed.test.ts",
  "src/cli/nightly.test.ts",
  "src/cli/role-requests.test.ts",
  "src/selftest/selected-alone.test.ts",
  "tools/run-action.test.ts",
  "src/app/proxy/verdict-through-proxy.test.ts",
  "src/suites/deliveries/live.test.ts",
  "src/reference/openapi.test.ts",
  "src/run/hostile.test.ts",
  "src/cli/hostile.test.ts",
  "src/run/outage.test.ts",
  "src/report/hostile.test.ts",
  "src/run/own-requests.test.ts",
  "src/cli/report/formats.test.ts",
  "src/selftest/seeds.test.ts",
  "src/selftest/mutants/mutants.test.ts",
  "src/selftest/receivers/examples.test.ts",
  "src/selftest/clients/clients.test.ts",
  "src/cli/lost-outputs.test.ts",
  "src/load/engines/k6/run.test.ts",
  "src/run/spare-key.test.ts",
  "src/cli/harness-limits.test.ts",
  "src/run/form-b.test.ts",
  "src/selftest/noise/noise.test.ts",
  "src/cli/trouble.test.ts",
  "src/cli/serve/serve.test.ts",
  "src/cli/test-control.test.ts",
  "src/cli/network.test.ts",
  "src/cli/load.test.ts",
  "src/cli/verify/verify.test.ts",
  "src/report/html/page.browser.test.ts",
  "src/run/send/loose-minute.test.ts",
  "src/selftest/whole-run.test.ts",
  "src/load/instrumented-run.test.ts",
];

/** Starts the slowest files first. Without durations of an earlier run, vitest would sort by file size. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return at === -1 ? longest.length : at;
    };
    // An isolated file in between would restart the workers of the other files.
    const isShared = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1);
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => isShared(one) - isShared(other) || placeOf(one) - placeOf(other));
  }
}

// The workers, and the commands that tests start, load the harness from V8's compile cache.
process.env["NODE_COMPILE_CACHE"] = compileCache as string;

export default defineConfig({
  test: {
    globalSetup: ["tools/vitest.global.mjs"],
    // Many tests wait most of the time, so two cores can serve seven workers. Trials wait less.
    maxWorkers: process.env["CONFORMANCE_TESTS"] === undefined ? 7 : 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["src/**/*.test.ts", "k6/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: [mocking, ...apart, ...leftOut],
          // Loading the harness again for each file took a third of the time.
          isolate: false,
          // Node strips types itself and uses its compile cache; Vite's runner does neither.
          experimental: { viteModuleRunner: false },
        },
      },
      {
        extends: true,
        test: {
          name: "apart",
          include: apart,
          exclude: leftOut,
          isolate: true,
          experimental: { viteModuleRunner: false },
        },
      },
      { extends: true, test: { name: "mocking", include: [mocking], isolate: true } },
    ],
    setupFiles: ["tools/vitest.setup.ts"],
    // Names of tests are never shortened.
    taskTitleValueFormatTruncate: 0,
    // Long enough for a slow or busy machine: a timeout is for tests that never end.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
  },
});
