import { expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { fault, faults } from "../reference/patch.ts";
import { runSuites } from "../run/run.ts";
import { suites } from "../suites/all.ts";

/** Runs all suites against a server that does not have the paths. */
async function runWithout(paths: RegExp) {
  const patches = faults("Endpoints", {
    gone: fault("USE-1", "Some paths are missing.").by(() => ({
      servedPath: (path) => (paths.test(path.replace(/\?.*/, "")) ? "/gone" : path),
    })),
  });
  const embedded = await startEmbedded(patches);
  try {
    const signal = new AbortController().signal;
    const { requests, executions } = await runSuites({ target: embedded.target, suites, maxWaitMs: 0, signal });
    return { requests, executions };
  } finally {
    await embedded.close();
  }
}

const complete = await runWithout(/^$/);

/** A repeated request on a busy machine is no part of the cost. */
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
    const { requests, executions } = await runWithout(paths);
    expect(requests).toBeLessThanOrEqual(complete.requests * marginFactor);
    expect(executions).toBeLessThanOrEqual(complete.executions * marginFactor);
  },
);
