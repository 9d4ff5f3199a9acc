import { expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { patchesByName } from "../reference/embedded/patches-by-name.ts";
import { fault, faults, type Patch } from "../reference/patch.ts";
import { runSuites } from "../run/run.ts";
import { suites } from "../suites/all.ts";

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

const complete = await costsWith([]);

/** Tolerance for requests that are repeated on a busy machine. */
const marginFactor = 1.01;

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
  "a target without %s takes no more requests than a complete one",
  async (_, paths) => {
    const { requests, executions } = await costsWith(without(paths));
    expect(requests).toBeLessThanOrEqual(complete.requests * marginFactor);
    expect(executions).toBeLessThanOrEqual(complete.executions * marginFactor);
  },
);

/** Faults that once made a run send up to 17,000 requests or cause 8,500 agent executions. */
const dear = [
  "headers-missing-on-200",
  "limit-with-window",
  "list-answers-203",
  "missing-query-accepted",
  "remaining-with-fraction",
  "session-required",
] as const;

it.each(sampleOf(dear, { of: 4 }))(
  "a target with the fault %s takes at most 11,500 requests and 650 executions",
  async (name) => {
    const { requests, executions } = await costsWith(patchesByName([name], []));
    expect(requests).toBeLessThanOrEqual(11_500);
    expect(executions).toBeLessThanOrEqual(650);
  },
);
