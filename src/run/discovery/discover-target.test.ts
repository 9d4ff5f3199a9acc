import { expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Target } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { runSuites } from "../run.ts";
import { selectChecks } from "../plan/selection.ts";

/** The agent that an invoke of the embedded server was judged on, where these are named. */
async function answeringBeside(agents: Target["agents"]): Promise<string | undefined> {
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

it("finds an agent that answers through the list", async () => {
  expect(await answeringBeside({})).toBe("echo");
});

it("does not take for it one that is named for something else", async () => {
  expect(await answeringBeside({ failing: "echo" })).not.toBe("echo");
});

it("takes for it one that is named to stream", async () => {
  expect(await answeringBeside({ streaming: "echo" })).toBe("echo");
});
