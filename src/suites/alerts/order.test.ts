import { describe, expect, it } from "vitest";

import { planProbes } from "../../run/plan/plan.ts";
import { buildSchedule } from "../../run/plan/schedule.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { aTarget } from "../../run/testing/values.ts";
import { suites } from "../all.ts";
import { oddAlertsCreated } from "./probes.ts";

const conditions = { canAdvance: false, hasFewRequests: false, hasWebhookAgent: true };

/** Returns the probes that create alerts, in the order of the schedule. */
function alertProbes(only: readonly string[], changes: Partial<typeof conditions> = {}) {
  const planned = planProbes(selectChecks(suites, { only, skip: [] }), aTarget("http://127.0.0.1:9/v1"));
  const steps = buildSchedule(planned, { ...conditions, ...changes });
  return steps.flatMap(({ probes }) => probes.map(({ probe }) => probe)).filter(({ creates }) => creates.alerts);
}

describe("alerts with unusual fields, as a key may have only a few alerts", () => {
  it.each([
    ["in a run of all checks", [], {}],
    ["with a test clock", [], { canAdvance: true }],
    ["of a key with few requests", [], { hasFewRequests: true }],
    ["if limits would flood the webhooks", [], { hasWebhookAgent: false }],
    ["in a run of some clauses", ["REQ-3", "ALR-*"], { canAdvance: true }],
    ["whose requests are judged", ["REQ-3", "ALR-1", "ALR-6"], {}],
  ])("are created after all others, %s", (_, only, changes) => {
    const found = alertProbes(only, changes);
    expect(found.length).toBeGreaterThanOrEqual(4);
    expect(found.indexOf(oddAlertsCreated)).toBe(found.length - 1);
  });

  it.each(["REQ-3", "ALR-5"])("are created without others for %s alone", (clause) => {
    expect(alertProbes([clause])).toEqual([oddAlertsCreated]);
  });
});
