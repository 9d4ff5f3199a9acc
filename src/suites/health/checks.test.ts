import { describe, expect, it } from "vitest";

import { health } from "./checks.ts";
import { exchange, type ExchangeOptions } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const report = (fields: object = {}, made: ExchangeOptions = {}) =>
  exchange({ method: "GET", path: "/agents/echo/health", json: { status: "healthy", checks: {}, ...fields }, ...made });
const twice = (fields: object = {}, later: object = fields) => ({ first: report(fields), second: report(later) });
const textOf = (text: string) => report({}, { text });
const sent = (...uptimes: readonly (readonly [uptime: number, sentMs: number, clockMs?: number])[]) => ({
  exchanges: uptimes.map(([uptime, sentMs, clockMs = 0]) => report({ uptime }, { sentMs, clockMs })),
  validKeys: ["main"],
});
const checks = (fields: object) => twice({ checks: fields });

describe("health reports", () => {
  it.each([
    ["HLT-1", "two reports", twice(), "holds"],
    ["HLT-1", "a second one that answers 500", { first: report(), second: exchange({ status: 500 }) }, "breach"],
    ["HLT-2", "a status of no known name", twice({ status: "ok" }), "breach"],
    ["HLT-2", "text instead of JSON", { first: textOf("OK"), second: textOf("OK") }, "unproven"],
    ["HLT-3", "checks in a list", twice({ checks: [] }), "breach"],
    ["HLT-3", "two reports", twice(), "holds"],
    ["HLT-4", "no checks", twice(), "absent"],
    ["HLT-4", "checks in a list", twice({ checks: [] }), "unproven"],
    [
      "HLT-4",
      "an agent with more fields than named",
      checks({ agent: { status: "ok", response_time_ms: 1, extra: null } }),
      "present",
    ],
    ["HLT-4", "a response time in text", checks({ agent: { status: "ok", response_time_ms: "1 ms" } }), "breach"],
    ["HLT-5", "dependencies as text", checks({ dependencies: { store: "slow" } }), "present"],
    ["HLT-5", "a dependency as an object", checks({ dependencies: { store: { status: "slow" } } }), "breach"],
    [
      "HLT-6",
      "both percentages",
      checks({ resources: { memory_usage_percent: 1, cpu_usage_percent: 2.5 } }),
      "present",
    ],
    ["HLT-6", "one of two percentages", checks({ resources: { memory_usage_percent: 1 } }), "present"],
    ["HLT-6", "a percentage in text", checks({ resources: { memory_usage_percent: "1 %" } }), "breach"],
    ["HLT-7", "a version that is a number", twice({ version: 1 }), "breach"],
    ["HLT-8", "an uptime in text", twice({ uptime: "1 h" }), "breach"],
    ["HLT-9", "a day that is not in the calendar", twice({ last_request: "2026-02-30T00:00:00Z" }), "breach"],
    ["HLT-9", "an offset and fractions of a second", twice({ last_request: "2026-02-28T10:00:00.5+01:00" }), "present"],
    ["HLT-10", "warnings as text", twice({ warnings: "slow" }), "breach"],
    ["HLT-10", "an empty list of warnings", twice({ warnings: [] }), "present"],
    ["HLT-10", "warnings that are numbers", twice({ warnings: [1] }), "breach"],
    [
      "HLT-7",
      "a version that is a number, answered 503",
      { first: report(), second: report({ status: "unhealthy", version: 2 }, { status: 503 }) },
      "breach",
    ],
    ["HLT-7", "an error body, answered 503", { first: report({}, { status: 503, json: {} }) }, "unproven"],
    ["HLT-8", "seconds, on two replicas", { all: sent([100, 0], [5000, 500], [100.6, 600]) }, "present"],
    ["HLT-8", "milliseconds", { all: sent([100_000, 0], [100_500, 500], [100_600, 600]) }, "breach"],
    [
      "HLT-8",
      "seconds, on a clock that was moved",
      { all: sent([100, 0], [700, 500, 600_000], [760, 510, 660_000]) },
      "present",
    ],
    ["HLT-13", "healthy, with nothing said", twice(), "holds"],
    [
      "HLT-13",
      "healthy, with a slow and a degraded dependency",
      checks({ dependencies: { store: "slow", model: "degraded" } }),
      "holds",
    ],
    ["HLT-13", "healthy, with a dependency that is down", checks({ dependencies: { store: "down" } }), "holds"],
    ["HLT-23", "healthy, with a dependency that is down", checks({ dependencies: { store: "down" } }), "breach"],
    ["HLT-13", "healthy, with a check that failed", checks({ dependencies: { store: "Failed" } }), "breach"],
    ["HLT-23", "healthy, with a slow dependency", checks({ dependencies: { store: "slow" } }), "holds"],
    ["HLT-13", "healthy, with an agent that is unhealthy", checks({ agent: { status: "unhealthy" } }), "breach"],
    ["HLT-13", "degraded, with nothing said", twice({ status: "degraded" }), "unproven"],
    ["HLT-21", "healthy, with no warnings", twice(), "holds"],
    ["HLT-21", "healthy, with an empty list of warnings", twice({ warnings: [] }), "holds"],
    ["HLT-21", "healthy, with a warning", twice({ warnings: ["slow"] }), "breach"],
    ["HLT-14", "healthy, with no warnings", twice(), "unproven"],
    ["HLT-14", "degraded without a warning", twice({ status: "degraded" }), "breach"],
    [
      "HLT-14",
      "degraded without a warning at the second look",
      twice({ status: "degraded", warnings: ["slow"] }, { status: "degraded" }),
      "breach",
    ],
    ["HLT-17", "no uptime", twice(), "unproven"],
    ["HLT-17", "an uptime that grows", twice({ uptime: 10 }, { uptime: 11 }), "holds"],
    ["HLT-17", "an uptime that falls", twice({ uptime: 10 }, { uptime: 2 }), "breach"],
    ["HLT-17/ranges", "more than 100 percent of a CPU", checks({ resources: { cpu_usage_percent: 101 } }), "breach"],
    ["HLT-17/ranges", "less than none of a CPU", checks({ resources: { cpu_usage_percent: -1 } }), "breach"],
    ["HLT-17/ranges", "all of a CPU", checks({ resources: { cpu_usage_percent: 100 } }), "holds"],
    ["HLT-20", "no checks", twice(), "unproven"],
    ["HLT-20", "the checks' agent alone", checks({ agent: {} }), "holds"],
    ["HLT-20", "the agent and the network", checks({ agent: {}, network: {} }), "holds"],
    ["HLT-20", "a check of an unknown name as text", checks({ database: "ok" }), "breach"],
  ] as const)("%s: %s", (id, _case, evidence, expected) => {
    expect(judged(health, id, evidence)).toBe(expected);
  });

  it.each([
    ["HLT-11", "a degraded report", report({ status: "degraded" }), "holds"],
    ["HLT-11", "a healthy report", report(), "breach"],
    ["HLT-14", "a warning", report({ status: "degraded", warnings: ["slow"] }), "holds"],
    ["HLT-14", "no warnings", report({ status: "degraded" }), "breach"],
    ["HLT-14", "warnings that are null", report({ status: "degraded", warnings: null }), "breach"],
    ["HLT-14", "a healthy report", report(), "unproven"],
    ["HLT-21/degraded", "an empty list of warnings", report({ status: "degraded", warnings: [] }), "breach"],
    ["HLT-21/degraded", "no warnings", report({ status: "degraded" }), "unproven"],
    ["HLT-12", "answered 200", report({ status: "unhealthy" }), "answers-200"],
    ["HLT-12", "answered 503", report({ status: "unhealthy" }, { status: 503 }), "answers-5xx"],
    ["HLT-12", "a healthy report", report(), "breach"],
  ] as const)("%s of one report: %s", (id, _case, given, expected) => {
    expect(judged(health, id, { report: given })).toBe(expected);
  });
});

const reportAfter = (fields: object, seconds: number) => report(fields, { sentMs: 1000 + seconds * 1000 });
const invokedAfter = (seconds: number) => exchange({ sentMs: 1000 + seconds * 1000 });

describe("health from one report to a later one", () => {
  it.each([
    ["an uptime that goes on", [reportAfter({ uptime: 5 }, 0), reportAfter({ uptime: 15 }, 10)], "holds"],
    ["an uptime that stands still", [reportAfter({ uptime: 5 }, 0), reportAfter({ uptime: 5 }, 10)], "breach"],
    ["an uptime that had no time to go on", [reportAfter({ uptime: 5 }, 0), reportAfter({ uptime: 5 }, 1)], "unproven"],
    ["neither field", [reportAfter({}, 0), reportAfter({}, 10)], "unproven"],
    [
      "a last request that stands still",
      [
        reportAfter({ last_request: "2026-03-04T05:06:07Z" }, 0),
        invokedAfter(5),
        reportAfter({ last_request: "2026-03-04T05:06:07Z" }, 10),
      ],
      "breach",
    ],
    [
      "a last request of an agent that was not used",
      [
        reportAfter({ last_request: "2026-03-04T05:06:07Z" }, 0),
        reportAfter({ last_request: "2026-03-04T05:06:07Z" }, 10),
      ],
      "unproven",
    ],
    [
      "a last request that is there after the first",
      [reportAfter({ last_request: null }, 0), invokedAfter(5), reportAfter({}, 10)],
      "unproven",
    ],
  ] as const)("HLT-22 with %s", (_case, exchanges, expected) => {
    const evidence = { all: { exchanges, validKeys: ["main"] }, first: twice(), later: { report: report() } };
    expect(judged(health, "HLT-22", evidence)).toBe(expected);
  });

  const still = [0, 10].map((seconds) => reportAfter({ uptime: 0 }, seconds));
  it.each([
    ["before the target was away and after", { returnsMs: [5000] }, "unproven"],
    ["after the target was away", { returnsMs: [500] }, "breach"],
    ["while its test clock stands still", { canAdvance: true }, "unproven"],
  ] as const)("HLT-22 with the same uptime %s", (_, known, expected) => {
    const all = { exchanges: still, validKeys: ["main"], ...known };
    expect(judged(health, "HLT-22", { all, first: twice(), later: { report: report() } })).toBe(expected);
  });

  it.each([
    ["404 AGENT_NOT_FOUND", exchange({ status: 404, json: { error: { code: "AGENT_NOT_FOUND" } } }), "holds"],
    ["404 with another code", exchange({ status: 404, json: { error: { code: "NOT_FOUND" } } }), "breach"],
    ["a report", report(), "breach"],
  ] as const)("HLT-18 where an unknown agent answers %s", (_case, answer, expected) => {
    expect(judged(health, "HLT-18", { known: twice(), unknown: { report: answer } })).toBe(expected);
  });
});
