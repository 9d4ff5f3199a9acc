import { expect, it } from "vitest";

import { sampleOf, testSeed, triesEveryFault } from "../base/testing/test-scope.ts";
import { suiteFaults, patchesByName } from "../reference/catalogue.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { fault, faults, type Patch } from "../reference/patch.ts";
import { runSuites } from "../run/run.ts";
import { suites } from "../suites/all.ts";
import { excessOf } from "./trial.ts";

const without = (paths: RegExp): readonly Patch[] =>
  faults("Endpoints", {
    gone: fault("USE-1", "Some paths are missing.").by(() => ({
      servedPath: (path) => (paths.test(path.replace(/\?.*/, "")) ? "/gone" : path),
    })),
  });

/** Runs all suites against a server with these patches. Returns the numbers of requests and agent executions. */
async function costsWith(patches: readonly Patch[]) {
  const embedded = await startEmbedded(patches);
  try {
    const signal = new AbortController().signal;
    const { requests, executions } = await runSuites({ target: embedded.target, suites, maxWaitMs: 0, signal });
    return { requests, executions };
  } finally {
    await embedded.close();
  }
}

const endpoints = [
  ["invoke", /\/invoke$/],
  ["stream", /\/stream$/],
  ["health", /\/health$/],
  ["list", /^\/v1\/agents$/],
  ["usage", /^\/v1\/usage$/],
  ["webhooks", /^\/v1\/webhooks$/],
  ["deliveries", /\/deliveries$/],
  ["alerts", /^\/v1\/alerts$/],
  ["keyUsage", /^\/v1\/keys\/usage$/],
  ["operations", /^\/v1\/operations\//],
  ["batch", /\/batch$/],
] as const;

it.each(sampleOf(endpoints, { of: 4 }))(
  "a target without %s takes at most 11,000 requests and 650 executions",
  async (_, paths) => {
    expect(excessOf(await costsWith(without(paths)), { kind: "fault" }, "all")).toEqual([]);
  },
);

/** Faults that once made a run send up to 18,000 requests or cause 9,000 agent executions. */
const dear = [
  "headers-missing-on-200",
  "limit-with-window",
  "list-answers-203",
  "missing-query-accepted",
  "remaining-with-fraction",
  "session-required",
  "no-hour-limit",
  "keys-share",
  "one-too-many-a-minute",
  "minute-too-short",
  "goes-on-after-none-left",
  "invoke-not-limited",
  "only-turns-count",
  "remaining-stands-still",
  "hour-too-short",
  "one-slot-too-few",
] as const;

/** Other faults, drawn by the seed. Trials with all suites (`selftest.test.ts`) have the same bounds. */
const others = suiteFaults.map(({ name }) => name).filter((_, at) => at % 50 === testSeed % 50);

const tried = new Set([...sampleOf(dear, { of: 4 }), ...(triesEveryFault ? others : others.slice(0, 2))]);

it.each([...tried])("a target with the fault %s takes no more than its bounds", async (name) => {
  const [patch = expect.fail(`no fault ${name}`)] = patchesByName([name], []);
  expect(excessOf(await costsWith([patch]), patch, "all")).toEqual([]);
});
