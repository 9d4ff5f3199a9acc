import { describe, expect, it, onTestFinished } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { startFastForwardServer } from "../../reference/testing/test-server.ts";
import type { Target } from "../../target/target.ts";
import { suites } from "../../suites/all.ts";
import { exchange } from "../../suites/testing/evidence.ts";
import { selectChecks } from "../plan/selection.ts";
import { runSuites } from "../run.ts";
import { aKey, aTarget } from "../testing/values.ts";
import { keysOfUnknownTier, tierInUsageResponse } from "./complete-target.ts";

interface Shown {
  readonly status?: number;
  readonly limit: number;
  readonly resetAfter?: number;
  /** Tokens of the month, as the body reports them. Default: no body. */
  readonly tokens?: number;
}

const usage = ({ status = 200, limit, resetAfter = 40, tokens }: Shown): Exchange =>
  exchange({
    status,
    method: "GET",
    path: "/usage",
    headers: [
      ["X-RateLimit-Limit", String(limit)],
      ["X-RateLimit-Remaining", String(limit - 1)],
      ["X-RateLimit-Reset-After", String(resetAfter)],
      ["Date", "Wed, 04 Mar 2026 05:05:00 GMT"],
    ],
    json: tokens === undefined ? {} : { tokens: { used: 0, limit: tokens, remaining: tokens } },
  });

const own: Target["tiers"] = {
  enterprise: { perHour: 9000, perMinute: 450, concurrent: 40, burst: 50, tokensPerMonth: null },
};

describe("the tier that a read of usage shows", () => {
  it.each<[name: string, shown: Shown, tiers: Target["tiers"], tier: string | null]>([
    ["its minute", { limit: 500 }, {}, "team"],
    ["its hour", { limit: 1000, resetAfter: 2000 }, {}, "pro"],
    ["its minute and its tokens", { limit: 10, tokens: 100_000 }, {}, "free"],
    ["its minute, and tokens of no tier", { limit: 500, tokens: 77_000_000 }, {}, null],
    ["its minute, and tokens of another tier", { limit: 500, tokens: 2_000_000 }, {}, null],
    ["the number of two tiers", { limit: 100 }, {}, null],
    ["the number of two tiers, and the tokens of one", { limit: 100, tokens: 2_000_000 }, {}, "pro"],
    ["the number of two tiers, and the tokens of the other", { limit: 100, tokens: 100_000 }, {}, null],
    ["an hour of the number of two tiers", { limit: 100, resetAfter: 2000, tokens: 100_000 }, {}, "free"],
    ["a number with its burst", { limit: 20 }, {}, null],
    ["a number with Team's burst, which is not published", { limit: 750, tokens: 10_000_000 }, {}, null],
    ["no numbers of its own", { limit: 0, tokens: 100_000 }, {}, null],
    ["a number of the target's own tier", { limit: 500 }, own, null],
    ["a number of no tier of the target's own", { limit: 10 }, own, "free"],
    ["its minute in an error", { status: 401, limit: 10 }, {}, null],
  ])("with %s", (_, shown, tiers, tier) => {
    expect(tierInUsageResponse(usage(shown), { tiers })).toBe(tier);
  });
});

it("asks once with each key, and not with keys of known tiers or of limited use", () => {
  const keys = {
    main: aKey({ name: "main", key: "pk_main" }),
    other: aKey({ name: "other", key: "pk_other" }),
    again: aKey({ name: "again", key: "pk_other" }),
    known: aKey({ name: "known", key: "pk_known", tier: "free" }),
    reader: aKey({ name: "reader", key: "pk_reader", scope: "read-only" }),
    expired: aKey({ name: "expired", key: "pk_expired", expired: true }),
  };
  const asked = keysOfUnknownTier(aTarget("http://127.0.0.1:9/v1", { keys }), keys.main);
  expect(asked.map(({ name }) => name)).toEqual(["other"]);
});

it("a run detects the tier of each key, and makes the largest one its main key", async () => {
  const { reference, timers, close } = await startFastForwardServer();
  onTestFinished(close);
  const names = ["free", "second", "pro", "team", "enterprise"];
  const keys = Object.fromEntries(
    names.map((name) => [name, aKey({ name, key: reference.keys.find((key) => key.name === name)?.key ?? "" })]),
  );
  const result = await runSuites({
    target: aTarget(reference.baseUrl, { keys }),
    suites: selectChecks(suites, { only: ["USE-1"], skip: [] }),
    maxRequests: 100,
    maxWaitMs: 0,
    signal: new AbortController().signal,
    timers,
  });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  expect(Object.fromEntries(Object.values(result.target.keys).map(({ name, tier }) => [name, tier]))).toEqual({
    free: "free",
    second: "free",
    pro: "pro",
    team: "team",
    enterprise: null,
  });
  const readsByKey = Map.groupBy(
    result.exchanges.filter(({ request: { url } }) => url.endsWith("/usage")),
    ({ key }) => key,
  );
  expect([...readsByKey.keys()]).toEqual(names);
  expect(
    result.exchanges.filter(({ key, request: { url } }) => key === "team" && url.includes("/agents?")),
  ).not.toEqual([]);
});

it("a run sends no more than it may to detect tiers", async () => {
  const { reference, timers, close } = await startFastForwardServer();
  onTestFinished(close);
  const keys = Object.fromEntries(reference.keys.slice(0, 4).map(({ name, key }) => [name, aKey({ name, key })]));
  const result = await runSuites({
    target: aTarget(reference.baseUrl, { keys }),
    suites: selectChecks(suites, { only: ["USE-1"], skip: [] }),
    maxRequests: 6,
    maxWaitMs: 0,
    signal: new AbortController().signal,
    timers,
  });
  expect(result.exchanges).toHaveLength(6);
  expect(result.kind).toBe("judged");
});
