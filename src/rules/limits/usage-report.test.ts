import { describe, expect, it } from "vitest";

import { usageCountIn, growthOf, tokenGrowthBounds } from "./usage-report.ts";

const counted = (used: number, limit = 100) => ({ used, limit, remaining: limit - used });

describe("a usage report", () => {
  const requests = counted(3);
  it.each([
    ["at the top level", { requests }, requests],
    ["in `data`", { status: "success", data: { requests } }, requests],
    ["in `data.result`", { status: "success", data: { result: { requests } } }, requests],
    ["beside an extra `status`", { status: "success", requests }, requests],
    ["with a number in text", { requests: { ...requests, used: "3" } }, null],
    ["with half a request", { requests: { ...requests, used: 3.5 } }, null],
    ["without what remains", { requests: { used: 3, limit: 100 } }, null],
    ["that is no object", [], null],
  ])("has its count %s", (_, body, found) => {
    expect(usageCountIn(body, "requests")).toStrictEqual(found);
  });
});

describe("a count that must grow by 3 to 5", () => {
  const bounds = { min: 3, max: 5 };
  it.each([
    ["by 2", counted(12), "short"],
    ["by 3", counted(13), "agrees"],
    ["by 5", counted(15), "agrees"],
    ["by 6", counted(16), "beyond"],
    ["by nothing", counted(10), "short"],
    ["by less than nothing", counted(9), "begun again"],
    ["with another limit", counted(13, 1000), "begun again"],
  ])("and grows %s", (_, after, kind) => {
    expect(growthOf(counted(10), after, bounds).kind).toBe(kind);
  });
});

describe("tokens of agent calls", () => {
  const of = (status: number | null, tokens: number | null) => ({ status, tokens });
  it.each([
    ["all told", [of(200, 7), of(200, 3)], { min: 10, max: 10 }],
    ["one refused", [of(200, 7), of(429, null), of(404, null)], { min: 7, max: 7 }],
    ["one that does not tell", [of(200, 7), of(200, null)], { min: 7, max: Infinity }],
    ["one that failed", [of(200, 7), of(500, null)], { min: 7, max: Infinity }],
    ["one that failed and tells", [of(200, 7), of(500, 2)], { min: 7, max: 9 }],
    ["one without an answer", [of(200, 7), of(null, null)], { min: 7, max: Infinity }],
    ["none", [], { min: 0, max: 0 }],
  ])("%s", (_, turns, bounds) => {
    expect(tokenGrowthBounds(turns)).toStrictEqual(bounds);
  });
});
