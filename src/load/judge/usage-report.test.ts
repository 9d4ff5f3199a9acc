import { describe, expect, it } from "vitest";

import { scenarioNamed } from "../scenarios.ts";
import { flow, invoke } from "../../../scenarios/traffic.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { evidenceOf, sample } from "../testing/samples.ts";
import { judgeLoad } from "./judge.ts";

const limits = publishedTiers.free;
const scenario = scenarioNamed("usage-ledger");
const startMs = 1_700_000_000_000;

const reportOf = (used: number, limit: number) => ({
  period: "2023-11-14T22:00:00Z",
  requests: { used, limit, remaining: limit - used },
  tokens: { used: 10, limit: 100_000, remaining: 99_990 },
});

interface Ledger {
  readonly isFresh: boolean;
  readonly before: number;
  readonly after: number;
  readonly limit: number;
}

/** Returns the finding on `requests.used` after six admitted invokes. The headers report the minute. */
function resultOf({ isFresh, before, after, limit }: Ledger): string | undefined {
  if (scenario === undefined) throw new Error("no scenario usage-ledger");
  const requests = [0, 1, 2, 3, 4, 5].map((index) => {
    const sentMs = startMs + 10 * index;
    const times = { sentMs, headMs: sentMs + 5, endMs: sentMs + 5, date: startMs / 1000 };
    return sample({ flow: "invokes", ...times, remaining: 9 - index, reset: startMs / 1000 + 30, resetAfter: 30 });
  });
  const evidence = evidenceOf(requests, {
    scenario: "usage-ledger",
    limits,
    isFresh,
    flows: [flow("invokes", invoke, { kind: "shared", atOnce: 1, requests: 6 })],
    ledger: { before: reportOf(before, limit), after: reportOf(after, limit) },
  });
  return judgeLoad(evidence, scenario).find(({ check }) => check.startsWith("USE-7/"))?.kind;
}

describe("the usage report's requests, after six that were admitted", () => {
  const { perHour } = limits;
  it.each<[string, Ledger, string]>([
    ["grew by six", { isFresh: true, before: 1, after: 7, limit: perHour }, "holds"],
    ["grew by six and the reading itself", { isFresh: true, before: 1, after: 8, limit: perHour }, "holds"],
    ["lost one on a fresh key", { isFresh: true, before: 1, after: 6, limit: perHour }, "breach"],
    ["lost two of a month", { isFresh: false, before: 50, after: 54, limit: 100_000 }, "breach"],
    [
      "may have lost older ones from a rolling hour",
      { isFresh: false, before: 50, after: 54, limit: perHour },
      "unproven",
    ],
    ["lost more than there were older ones", { isFresh: false, before: 1, after: 5, limit: perHour }, "breach"],
  ])("%s", (_, ledger, kind) => {
    expect(resultOf(ledger)).toBe(kind);
  });
});
