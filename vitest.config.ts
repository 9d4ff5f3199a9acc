import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// @ts-expect-error plain JavaScript, for it runs on the host's Node.
import { compileCache } from "./tools/setup.mjs";

/** What puts another module in the place of one, and what holds the evidence of hundreds of runs, as none does in a quick run: what they leave behind is nobody else's. */
const mocking = "src/app/load/send-load.test.ts";
const apart = process.env["CONFORMANCE_TESTS"] === undefined ? [] : ["src/selftest/**/*.test.ts"];

/** Globs of files that another command of the same check tries whole, with commas in between. */
const leftOut = (process.env["CONFORMANCE_LEFT_OUT"] ?? "").split(",").filter((glob) => glob !== "");

/** What takes longest, first: where it came last, three workers of four would wait for it. */
const longest = [
  "src/selftest/selftest.test.ts",
  "src/selftest/mutants/mutants.test.ts",
  "src/selftest/load/run-plans.test.ts",
  "src/selftest/manual-mutations/manual-mutations.test.ts",
  "src/selftest/whole-run.test.ts",
  "src/reference/openapi.test.ts",
  "src/run/hostile.test.ts",
  "src/cli/role-requests.test.ts",
  "src/cli/load.test.ts",
  "src/cli/hostile.test.ts",
  "src/load/engines/k6/run.test.ts",
  "src/load/instrumented-run.test.ts",
  "src/report/html/page.browser.test.ts",
  "src/report/compare/page.browser.test.ts",
  "src/report/html/hostile.browser.test.ts",
  "src/report/vendors/page.browser.test.ts",
  "src/suites/deliveries/live.test.ts",
  "tools/run-action.test.ts",
  "src/run/send/loose-minute.test.ts",
  "src/run/form-b.test.ts",
  "src/cli/nightly.test.ts",
  "src/cli/network.test.ts",
  "src/load/judge/soundness.test.ts",
];

/** On a machine that has no durations of an earlier run, vitest goes by the size of files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return at === -1 ? longest.length : at;
    };
    // Where a file that stands apart came in between, the workers of the others would begin anew.
    const isShared = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1);
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => isShared(one) - isShared(other) || placeOf(one) - placeOf(other));
  }
}

// The workers, and the commands that tests start, load the harness from what V8 kept of it.
process.env["NODE_COMPILE_CACHE"] = compileCache as string;

export default defineConfig({
  test: {
    globalSetup: ["tools/vitest.global.mjs"],
    // Many tests wait, for what must not come: five workers for two cores of a small machine.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["src/**/*.test.ts", "k6/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: [mocking, ...apart, ...leftOut],
          // Loading the harness anew for each file took a third of the time.
          isolate: false,
          // Node takes the types out by itself, and keeps what V8 made of a module: vite's runner does neither.
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
    // A name that is cut off is no name.
    taskTitleValueFormatTruncate: 0,
    // What ends at all ends long before: a machine that is slow, or busy, is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
  },
});
