import { expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../../suites/testing/evidence.ts";
import type { Target } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { runSuites } from "../run.ts";
import { selectChecks } from "../plan/selection.ts";
import type { Client } from "../send/client.ts";
import { findAnsweringAgent, isWorking } from "./discover-target.ts";

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

it.each([
  ["answers", 200, "first"],
  ["refuses the query", 400, "first"],
  ["fails", 500, "second"],
  ["does not respond in time", null, "second"],
])("tries another agent only if the first one fails: it %s", async (_, status, chosen) => {
  const client = clientWith({ first: status, second: 200 });
  expect((await findAnsweringAgent(client, ["first", "second"], isWorking))?.agent).toBe(chosen);
});

/** A client whose invokes get these statuses, by agent; `null` for a timeout. */
function clientWith(statuses: Readonly<Record<string, number | null>>): Client {
  const invoke = (agent: string): Promise<Exchange> => {
    const status = statuses[agent] ?? null;
    const answered = exchange({ status: status ?? 200 });
    const silent = { kind: "unanswered", reason: "silent", detail: "no response head within 30 s", endMs: 1 } as const;
    return Promise.resolve(status === null ? { ...answered, answer: silent } : answered);
  };
  return { invoke } as Partial<Client> as Client;
}
