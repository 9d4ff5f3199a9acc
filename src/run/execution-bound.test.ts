import { describe, expect, it } from "vitest";

import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { suites } from "../suites/all.ts";
import { selectChecks } from "./plan/selection.ts";
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

  it("leaves a run without a named agent the agents of the list", async () => {
    const embedded = await startEmbedded();
    const result = await runSuites({
      target: { ...embedded.target, agents: {}, agentSource: "found" },
      suites: selectChecks(suites, { only: ["HLT-1", "INV-1"], skip: [] }),
      maxRequests: Infinity,
      maxExecutions: 0,
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    await embedded.close();
    expect(result).toMatchObject({
      kind: "judged",
      stopped: null,
      executions: 0,
      target: { agents: { answering: "echo" } },
    });
    const kinds = new Map(result.judgements.map(({ check, finding }) => [check.id, finding.kind]));
    expect([kinds.get("HLT-1"), kinds.get("INV-1")]).toEqual(["holds", "unproven"]);
  });
});
