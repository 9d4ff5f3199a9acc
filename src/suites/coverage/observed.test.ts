import { describe, expect, it } from "vitest";

import { aKey, aTarget } from "../../run/testing/values.ts";
import { exchange } from "../testing/evidence.ts";
import { rowsOfExchange } from "./observed.ts";

const target = aTarget("http://127.0.0.1:9/v1", {
  keys: { main: aKey({ name: "main", tier: "pro" }) },
  agents: { answering: "echo", degraded: "slow-store" },
});
const reader = { target, mainKey: "pk_correct-horse-9f2c71", listed: 3, listedAgents: new Set(["echo", "plain-01"]) };

describe("the agent of a request that a run has sent", () => {
  it.each([
    ["echo", "answering"],
    ["slow-store", "degraded"],
    ["plain-01", "none"],
    ["no-such-agent", "unknown"],
  ])("%s is of the kind %s", (agent, kind) => {
    const rows = rowsOfExchange(exchange({ method: "GET", path: `/agents/${agent}/health`, key: "main" }), reader);
    expect(rows.map((row) => row["agent"])).toEqual([kind]);
  });
});
