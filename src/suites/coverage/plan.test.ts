import { describe, expect, it } from "vitest";

import { aKey, aTarget } from "../../run/testing/values.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { neededRows } from "./plan.ts";

const keys = {
  pro: aKey({ name: "pro", tier: "pro" }),
  free: aKey({ name: "free", tier: "free" }),
  reader: aKey({ name: "reader", tier: "pro", scope: "read-only" }),
  oneAgent: aKey({ name: "oneAgent", tier: "pro", agents: ["echo"] }),
};
const clock = { advance: () => Promise.resolve(), settleMs: 0, agentsFollow: true };
const targetWith = (traits: Partial<Target>): Target =>
  aTarget("http://127.0.0.1:9/v1", { keys, agents: { answering: "echo" }, ...traits });
const withBatch = targetWith({ clock, paths: { batch: "/batch", operation: null, execute: null } });
const realRows = new Set(neededRows(targetWith({})).map((row) => JSON.stringify(row)));
const clockRows = neededRows(withBatch).filter((row) => !realRows.has(JSON.stringify(row)));

describe("the first requests after a reset", () => {
  it("are of every endpoint, and of every kind of key that is let in", () => {
    expect(new Set(clockRows.map((row) => row["endpoint"]))).toEqual(new Set(endpointNames));
    expect(new Set(clockRows.map((row) => row["key"]))).toEqual(new Set(["pro", "free", "read-only", "one agent"]));
    expect(clockRows).toHaveLength(4 * endpointNames.length);
  });

  it("are left out without a test clock", () => {
    expect(neededRows(targetWith({})).filter(({ endpoint }) => endpoint === "usage")).toEqual([]);
  });

  it("need no batch if the target has none", () => {
    expect(
      neededRows(targetWith({ clock })).filter(({ key, endpoint }) => key === "pro" && endpoint === "batch"),
    ).toEqual([]);
  });
});
