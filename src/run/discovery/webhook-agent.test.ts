import { describe, expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { deliveryJson } from "../../evidence/delivery.ts";
import type { AgentRole } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { exchange } from "../../suites/testing/evidence.ts";
import { type Client, agentPath } from "../send/client.ts";
import { withWebhookAgent } from "./complete-target.ts";
import { runSuites } from "../run.ts";
import type { RunResult } from "../run-result.ts";
import { aTarget } from "../testing/values.ts";
import { selectChecks } from "../plan/selection.ts";

type Judged = Extract<RunResult, { kind: "judged" }>;

/** Tests webhooks and the minute's limit on the embedded server. The target file has only these roles. */
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

describe("the webhook agent", () => {
  it("is found in the list if none is named, so that using up limits causes no deliveries", async () => {
    const { target, exchanges, deliveries } = await judged(["answering", "remembering"]);
    const { answering, webhooked } = target.agents;
    expect(webhooked).not.toBe(answering);
    expect(exchanges.some(({ request: { url } }) => url.endsWith(`/${webhooked}/invoke`))).toBe(true);
    const agents = deliveries.map((each) => /"agent_id":"(.*?)"/.exec(JSON.stringify(deliveryJson(each)))?.[1]);
    expect(agents).toContain(webhooked);
    expect(agents).not.toContain(answering);
  });

  it("is the named one", async () => {
    const { target, exchanges } = await judged(["answering", "webhooked"]);
    expect(target.agents.webhooked).toBe("herald");
    expect(exchanges.filter(({ request: { url } }) => url.includes("limit=20"))).toEqual([]);
  });
});

describe("a listed agent for webhooks", () => {
  const listing = exchange({
    method: "GET",
    path: "/agents",
    json: { data: [{ id: "echo" }, { id: "slow" }, { id: "next" }] },
  });
  const listed = (agents: readonly string[], pages: number) => ({
    data: agents.map((id) => ({ id })),
    pagination: { page: 1, limit: 2, total: 9, pages },
  });
  const never = Promise.withResolvers<never>().promise;
  const respondsAfter = (tookMs: Readonly<Record<string, number>>): Client => {
    const invoke = async (agent: string) => {
      if (tookMs[agent] === Infinity) return never;
      const response = exchange({ path: agentPath(agent, "invoke"), json: { result: {} }, sentMs: 1000 });
      return { ...response, answer: { ...response.answer, endMs: 1000 + (tookMs[agent] ?? 5) } };
    };
    // The tests need no other method of a client.
    return { invoke } as unknown as Client;
  };

  it.each([
    ["is taken if it responds at once", {}, "slow"],
    ["is not taken if it is slow and the next one is not", { slow: 20_000 }, "next"],
    ["is not taken if it has not responded yet", { slow: Infinity }, "next"],
    ["is not taken if it has not responded, and a slow one has", { slow: Infinity, next: 9000 }, "next"],
    ["is taken although it is slow, if no other is quicker", { slow: 20_000, next: 9000 }, "slow"],
  ])("%s", async (_, tookMs, expected) => {
    const target = aTarget("http://127.0.0.1:9/v1", { agents: { answering: "echo" } });
    const discovery = { listing, usage: listing, health: [], invoked: null };
    const found = await withWebhookAgent(respondsAfter(tookMs), target, discovery, {
      signal: new AbortController().signal,
      timeouts: { nextMs: 1, lastMs: 1 },
    });
    expect(found.target.agents.webhooked).toBe(expected);
  });

  const many = [["echo", "slow"], ["echo", "minder"], ["next"]];
  it.each([
    ["is looked for on no page after one that has it", [["echo", "next"], ["slow"]], 9, 1, "next"],
    ["is found on a later page if all of the first ones have roles", many, 9, 3, "next"],
    ["is not found on a page after the last one", many, 2, 2, undefined],
    ["is not found if every page is the same", [["echo"], ["echo"]], 9, 2, undefined],
    ["is not found after an empty page", [["echo"], [], ["next"]], 9, 2, undefined],
    ["is not found after many pages", [["a"], ["b"], ["c"], ["d"], ["next"]], 9, 4, undefined],
  ])("%s", async (_, lists, pages, read, expected) => {
    let sent = 0;
    const client = {
      ...respondsAfter({}),
      since: () => client,
      send: () => Promise.resolve(exchange({ path: "/agents", json: listed(lists[sent++] ?? [], pages) })),
    } as unknown as Client;
    const target = aTarget("http://127.0.0.1:9/v1", {
      agents: {
        answering: "echo",
        slow: "slow",
        degraded: "minder",
        failing: "a",
        timingOut: "b",
        overloaded: "c",
        unhealthy: "d",
      },
    });
    const first = exchange({ path: "/agents", json: listed(["echo", "slow"], pages) });
    const discovery = { listing: first, usage: first, health: [], invoked: null };
    const { signal } = new AbortController();
    const found = await withWebhookAgent(client, target, discovery, { signal });
    expect([sent, found.target.agents.webhooked]).toEqual([read, expected]);
  });

  it("is not invoked if the remembering agent responds", async () => {
    const target = aTarget("http://127.0.0.1:9/v1", { agents: { answering: "echo", remembering: "minder" } });
    const discovery = { listing, usage: listing, health: [], invoked: null };
    const found = await withWebhookAgent(respondsAfter({ slow: Infinity, next: Infinity }), target, discovery, {
      signal: new AbortController().signal,
    });
    expect(found.target.agents.webhooked).toBe("minder");
    await found.pendingRequests;
  });
});
