import { describe, expect, it } from "vitest";

import { probe } from "./probe.ts";
import type { PlannedProbe } from "./plan/plan.ts";
import { startRequestBudget } from "./run-probe.ts";

const planned = (
  requests: number,
  executions = 0,
  traits: { readonly mayDropRequests?: true; readonly countsRequests?: true } = {},
): PlannedProbe => ({
  probe: probe("a probe", { requests, executions, ...traits }, () => Promise.resolve(null)),
  tested: null,
  isJudged: true,
  musts: [],
  requests,
  executions,
  keys: [],
  usesMainKey: true,
  skip: null,
});

const budgetOf = (used: { requests: number; executions: number } = { requests: 0, executions: 0 }) =>
  startRequestBudget({
    maxRequests: 10,
    maxExecutions: 4,
    recorder: { sent: () => used.requests, executions: () => used.executions },
  });

describe("a budget of requests and executions", () => {
  it.each([
    ["the requests", planned(8), { why: "too many requests", requests: 8, left: 7 }, "maxRequests"],
    ["the executions", planned(3, 3), { why: "too many executions", executions: 3, left: 2 }, "maxExecutions"],
  ])("is too small for a probe that exceeds %s that are left", (_, each, reason, needed) => {
    const budget = budgetOf({ requests: 3, executions: 2 });
    expect(budget.reasonAgainst(each)).toEqual({ reason, needs: { need: needed } });
    expect(budget.reasonAgainst(planned(7, 2))).toBeNull();
  });

  it("lets a probe begin that leaves out what does not fit, until the requests are used up", () => {
    const each = planned(8, 0, { mayDropRequests: true });
    expect(budgetOf({ requests: 9, executions: 0 }).reasonAgainst(each)).toBeNull();
    expect(budgetOf({ requests: 10, executions: 0 }).reasonAgainst(each)).toMatchObject({
      reason: { why: "requests used up", most: 10 },
    });
  });

  it("never keeps a probe from judging earlier requests", () => {
    const each = planned(8, 0, { countsRequests: true });
    expect(budgetOf({ requests: 10, executions: 4 }).reasonAgainst(each)).toBeNull();
  });

  it("keeps the rest of what was planned for running probes, until they end", () => {
    const used = { requests: 0, executions: 0 };
    const budget = budgetOf(used);
    const { take, release } = budget.reserve(planned(6, 2));
    expect(budget.reasonAgainst(planned(5))).toMatchObject({ reason: { left: 4 } });
    for (const executions of [1, 0]) {
      take(executions);
      used.requests += 1;
      used.executions += executions;
    }
    expect(budget.reasonAgainst(planned(5))).toMatchObject({ reason: { left: 4 } });
    expect(budget.reasonAgainst(planned(1, 3))).toMatchObject({ reason: { left: 2 } });
    release();
    expect(budget.reasonAgainst(planned(8, 3))).toBeNull();
  });
});
