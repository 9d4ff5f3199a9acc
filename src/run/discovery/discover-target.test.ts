import { expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Target } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { runSuites } from "../run.ts";
import { selectChecks } from "../plan/selection.ts";

/**
 * Runs against the embedded server with these agents in the target file. Returns the agent that the run chose for the
 * answering role.
 */
async function answeringAgentWith(agents: Target["agents"]): Promise<string | undefined> {
  const { target, close } = await startEmbedded();
  onTestFinished(close);
  const result = await runSuites({
    target: { ...target, agents, agentSource: "found" },
    suites: selectChecks(suites, { only: ["INV-1"], skip: [] }),
    maxRequests: Infinity,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  expect(result.judgements.map(({ finding }) => finding.kind)).toContain("holds");
  return result.target.agents.answering;
}

it("finds an answering agent through the list", async () => {
  expect(await answeringAgentWith({})).toBe("echo");
});

it("does not use an agent with another role as the answering agent", async () => {
  expect(await answeringAgentWith({ failing: "echo" })).not.toBe("echo");
});

it("may use the streaming agent as the answering agent", async () => {
  expect(await answeringAgentWith({ streaming: "echo" })).toBe("echo");
});
