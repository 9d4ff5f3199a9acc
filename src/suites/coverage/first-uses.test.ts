import { describe, expect, it } from "vitest";

import { aKey, aTarget } from "../../run/testing/values.ts";
import type { Target } from "../../target/target.ts";
import { keysFirstUsed } from "./first-uses.ts";

const clock = { advance: () => Promise.resolve(), settleMs: 0, agentsFollow: true };
const keys = {
  main: aKey({ name: "main", key: "ah_main", tier: "pro" }),
  free: aKey({ name: "free", key: "ah_free", tier: "free" }),
  reader: aKey({ name: "reader", key: "ah_reader", tier: "pro", scope: "read-only" }),
  temporary: aKey({ name: "temporary", key: "ah_temporary", tier: "free", expiresInSeconds: 600 }),
  quota: aKey({ name: "quota", key: "ah_quota", tier: "free", nearQuota: true }),
};
const targetWith = (traits: Partial<Target>): Target => aTarget("http://127.0.0.1:9/v1", { keys, ...traits });

const sentTo = (target: Target) => {
  const { requests, executions } = keysFirstUsed;
  const numberOf = (count: typeof requests | typeof executions): unknown =>
    typeof count === "function" ? count(target as never, target) : count;
  return { requests: numberOf(requests), executions: numberOf(executions) };
};

describe("the first requests of keys", () => {
  it("are two for each key but the main one, and those with a clock or a quota of their own", () => {
    expect(sentTo(targetWith({ clock }))).toEqual({ requests: 4, executions: 4 });
  });

  it("are left to other probes without a test clock", () => {
    expect(sentTo(targetWith({}))).toEqual({ requests: 0, executions: 0 });
  });
});
