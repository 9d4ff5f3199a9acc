import { describe, expect, it } from "vitest";

import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { suites } from "../suites/all.ts";
import { runSuites } from "./run.ts";

describe("the bound of agent executions", () => {
  it.each([0, 20])("is kept with %i, also by requests whose names are written with escapes", async (maxExecutions) => {
    const embedded = await startEmbedded();
    const result = await runSuites({
      target: embedded.target,
      suites,
      maxRequests: Infinity,
      maxExecutions,
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    await embedded.close();
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    expect(result.executions).toBe(maxExecutions);
  });
});
