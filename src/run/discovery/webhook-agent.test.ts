import { describe, expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { AgentRole } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { exchange } from "../../suites/testing/exchange.ts";
import { type Client, agentPath } from "../send/client.ts";
import { withWebhookAgent } from "./webhook-agent.ts";
import { runSuites, type RunResult } from "../run.ts";
import { aTarget } from "../testing/targets.ts";
import { selectChecks } from "../plan/selection.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

/** Webhooks, and a minute limit that is used up, on the embedded server with these roles alone. */
async function judged(roles: readonly AgentRole[]): Promise<Judged> {
  const { target, close } = await startEmbedded();
  onTestFinished(close);
  const agents = Object.fromEntries(
    Object.entries(target.agents).filter(([role]) => roles.some((one) => one === role)),
  );
  const { enterprise, ...others } = target.keys;
  const result = await runSuites({
    target: { ...target, agents, keys: enterprise === undefined ? others : { enterprise } },
    suites: selectChecks(suites, { only: ["WHK-1", "HOOK-8", "LIM-1"], skip: [] }),
    maxRequests: Infinity,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  return result;
}

describe("an agent of its own for webhooks", () => {
  it("is found in the list where nobody named one, so that limits are used up without a delivery for each request", async () => {
    const { target, exchanges, deliveries, requests } = await judged(["answering", "remembering"]);
    const { answering, webhooked } = target.agents;
    expect(webhooked).not.toBe(answering);
    expect(exchanges.some(({ request: { url } }) => url.endsWith(`/${webhooked}/invoke`))).toBe(true);
    expect(requests).toBeGreaterThan(20);
    expect(deliveries.length).toBeGreaterThan(0);
    expect(deliveries.length).toBeLessThan(requests / 10);
  });

  it("is the one that somebody named", async () => {
    const { target, exchanges } = await judged(["answering", "webhooked"]);
    expect(target.agents.webhooked).toBe("herald");
    expect(exchanges.filter(({ request: { url } }) => url.includes("limit=20"))).toEqual([]);
  });
});

describe("an agent that the list offers for webhooks", () => {
  const listing = exchange({
    method: "GET",
    path: "/agents",
    json: { data: [{ id: "echo" }, { id: "slow" }, { id: "next" }] },
  });
  const never = Promise.withResolvers<never>().promise;
  const answersAfter = (tookMs: Readonly<Record<string, number>>): Client => {
    const invoke = async (agent: string) => {
      if (tookMs[agent] === Infinity) return never;
      const made = exchange({ path: agentPath(agent, "invoke"), json: { result: {} }, sentMs: 1000 });
      return { ...made, answer: { ...made.answer, endMs: 1000 + (tookMs[agent] ?? 5) } };
    };
    // Nothing else is asked of it.
    return { invoke } as unknown as Client;
  };

  it.each([
    ["is taken where it answers at once", {}, "slow"],
    ["is left where it takes its time and the next does not", { slow: 20_000 }, "next"],
    ["is left where it has not answered yet", { slow: Infinity }, "next"],
    ["is left where it has not answered yet, for one that took its time", { slow: Infinity, next: 9000 }, "next"],
    ["is taken all the same where no other is quicker", { slow: 20_000, next: 9000 }, "slow"],
  ])("%s", async (_, tookMs, expected) => {
    const target = aTarget("http://127.0.0.1:9/v1", { agents: { answering: "echo" } });
    const look = { listing, usage: listing, health: [], invoked: null };
    const found = await withWebhookAgent(answersAfter(tookMs), target, look, {
      signal: new AbortController().signal,
      patience: { nextMs: 1, lastMs: 1 },
    });
    expect(found.target.agents.webhooked).toBe(expected);
  });

  it("is not asked where one is named that remembers, and that answers", async () => {
    const target = aTarget("http://127.0.0.1:9/v1", { agents: { answering: "echo", remembering: "minder" } });
    const look = { listing, usage: listing, health: [], invoked: null };
    const found = await withWebhookAgent(answersAfter({ slow: Infinity, next: Infinity }), target, look, {
      signal: new AbortController().signal,
    });
    expect(found.target.agents.webhooked).toBe("minder");
    await found.pendingRequests;
  });
});
