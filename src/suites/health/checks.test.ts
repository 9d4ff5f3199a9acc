import { describe, expect, it } from "vitest";

import { health } from "./checks.ts";
import { exchange, type Made } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";

const report = (fields: object = {}, made: Made = {}) =>
  exchange({ method: "GET", path: "/agents/echo/health", json: { status: "healthy", checks: {}, ...fields }, ...made });
const twice = (fields: object = {}, later: object = fields) => ({ first: report(fields), second: report(later) });
const checks = (fields: object) => twice({ checks: fields });

describe("health reports", () => {
  it.each([
    ["HLT-1", twice(), "holds"],
    ["HLT-1", { first: report(), second: exchange({ status: 500 }) }, "breach"],
    ["HLT-2", twice({ status: "ok" }), "breach"],
    ["HLT-2", { first: exchange({ text: "OK" }), second: report() }, "unproven"],
    ["HLT-3", twice({ checks: [] }), "breach"],
    ["HLT-3", twice(), "holds"],
    ["HLT-4", twice(), "absent"],
    ["HLT-4", twice({ checks: [] }), "unproven"],
    ["HLT-4", checks({ agent: { status: "ok", response_time_ms: 1, extra: null } }), "present"],
    ["HLT-4", checks({ agent: { status: "ok", response_time_ms: "1 ms" } }), "breach"],
    ["HLT-5", checks({ dependencies: { store: "slow" } }), "present"],
    ["HLT-5", checks({ dependencies: { store: { status: "slow" } } }), "breach"],
    ["HLT-6", checks({ resources: { memory_usage_percent: 1, cpu_usage_percent: 2.5 } }), "present"],
    ["HLT-6", checks({ resources: { memory_usage_percent: 1 } }), "breach"],
    ["HLT-7", twice({ version: 1 }), "breach"],
    ["HLT-8", twice({ uptime: "1 h" }), "breach"],
    ["HLT-9", twice({ last_request: "2026-02-30T00:00:00Z" }), "breach"],
    ["HLT-9", twice({ last_request: "2026-02-28T10:00:00.5+01:00" }), "present"],
    ["HLT-10", twice({ warnings: "slow" }), "breach"],
    ["HLT-10", twice({ warnings: [] }), "present"],
    ["HLT-13", twice(), "holds"],
    ["HLT-13", checks({ dependencies: { store: "slow", model: "degraded" } }), "holds"],
    ["HLT-13", checks({ dependencies: { store: "down" } }), "breach"],
    ["HLT-13", checks({ agent: { status: "unhealthy" } }), "breach"],
    ["HLT-13", twice({ status: "degraded" }), "unproven"],
    ["HLT-14", twice(), "holds"],
    ["HLT-14", twice({ warnings: [] }), "holds"],
    ["HLT-14", twice({ warnings: ["slow"] }), "breach"],
    ["HLT-14", twice({ status: "degraded" }), "breach"],
    ["HLT-17", twice(), "unproven"],
    ["HLT-17", twice({ uptime: 10 }, { uptime: 11 }), "holds"],
    ["HLT-17", twice({ uptime: 10 }, { uptime: 2 }), "breach"],
    ["HLT-17", checks({ resources: { cpu_usage_percent: 101 } }), "breach"],
    ["HLT-20", twice(), "unproven"],
    ["HLT-20", checks({ agent: {} }), "holds"],
    ["HLT-20", checks({ agent: {}, network: {} }), "holds"],
    ["HLT-20", checks({ database: "ok" }), "breach"],
  ] as const)("%s", (id, evidence, expected) => {
    expect(judged(health, id, evidence)).toBe(expected);
  });

  it.each([
    ["HLT-11", report({ status: "degraded" }), "holds"],
    ["HLT-11", report(), "breach"],
    ["HLT-14/degraded", report({ status: "degraded", warnings: ["slow"] }), "holds"],
    ["HLT-14/degraded", report({ status: "degraded" }), "breach"],
    ["HLT-14/degraded", report(), "unproven"],
    ["HLT-10/degraded", report({ status: "degraded", warnings: [1] }), "breach"],
    ["HLT-12", report({ status: "unhealthy" }), "answers-200"],
    ["HLT-12", report({ status: "unhealthy" }, { status: 503 }), "answers-5xx"],
    ["HLT-12", report(), "breach"],
    ["HLT-7/unhealthy", report({ status: "unhealthy", version: 2 }, { status: 503 }), "breach"],
    ["HLT-7/unhealthy", exchange({ status: 503, json: {} }), "unproven"],
    ["HLT-18", exchange({ status: 404 }), "observed"],
  ] as const)("%s of one report", (id, given, expected) => {
    expect(judged(health, id, { report: given })).toBe(expected);
  });
});
