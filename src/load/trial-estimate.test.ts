import { describe, expect, it } from "vitest";

import { scenarioNamed, requestCount, type Scenario } from "./scenarios.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";
import { publishedTiers } from "../spec/tiers.ts";
import { estimateTrial, type Estimate } from "./trials.ts";

const limits = publishedTiers.pro;

function named(name: string): Scenario {
  const scenario = scenarioNamed(name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return scenario;
}

const estimateFor = (scenario: Scenario, speed = 1): Estimate =>
  estimateTrial({ scenario, tier: "pro", engine: "autocannon" }, limits, speed);
const estimate = (name: string, speed = 1): Estimate => estimateFor(named(name), speed);
const plannedBy = (name: string): number =>
  named(name)
    .flows(limits)
    .reduce((sum, each) => sum + (requestCount(each) ?? 0), 0);

const closed: Scenario = {
  ...named("burst"),
  flows: () => [flow("even", invoke, { kind: "closed", atOnce: 4, seconds: 8 })],
};

describe("the estimate of a trial", () => {
  it("counts the requests of the flows, and those around them", () => {
    expect(estimate("concurrency").requests).toBe(plannedBy("concurrency") + 1);
    expect(estimate("usage-ledger").requests).toBe(plannedBy("usage-ledger") + 3);
    expect(estimate("webhook-storm").requests).toBe(plannedBy("webhook-storm") + 2);
  });

  it("describes flows whose size depends on responses", () => {
    expect(estimateFor(closed, 2).openEnded).toEqual(["as many as 4 connections can in 4 s"]);
    expect(estimateFor(closed).isBeyondLimit).toBe(true);
    expect(estimate("recovery").openEnded).toEqual([expect.stringMatching(/^3 times until one is refused/)]);
    expect(estimate("burst").openEnded).toEqual([]);
  });

  it.each([
    ["concurrency", true],
    ["burst", true],
    ["noisy-neighbour", true],
    ["far-over", true],
    ["sustained", false],
    ["usage-ledger", false],
  ])("tells whether %s asks for more than a key's limits admit: %s", (name, isBeyond) => {
    expect(estimate(name).isBeyondLimit).toBe(isBeyond);
  });

  it("takes less time on a faster clock", () => {
    expect(estimate("minute-limit", 30).seconds).toBeLessThan(estimate("minute-limit").seconds / 10);
  });
});
