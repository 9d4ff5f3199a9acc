import { readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../load/package-root.ts";
import { operatorManifest } from "../../load/engines/k6/operator.ts";
import { lackOfNeeds } from "../../load/conduct.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import type { LoadPlan } from "./plan-load.ts";
import { tiersOfTarget } from "./target-ground.ts";

/**
 * The manifest of the one trial of a plan, for the k6-operator.
 *
 * @throws {UsageProblem} where there are several, or the target lacks what the scenario needs
 */
export function manifestOf({ trials }: LoadPlan, target: Target, segments: number): string {
  const [trial, ...others] = trials;
  if (trial === undefined || others.length > 0)
    throw new UsageProblem(
      `--emit k6-operator writes one run, and ${trials.length} are chosen: name one scenario, and its --tier.`,
    );
  const ground = tiersOfTarget(target).find(({ tier }) => tier === trial.tier);
  if (ground === undefined) throw new UsageProblem(`The target has no usable key of the ${trial.tier} tier.`);
  const { agents } = target;
  const roles = {
    answering: agents.answering ?? null,
    streaming: agents.streaming ?? agents.answering ?? null,
    slow: agents.slow ?? null,
    slowStreaming: agents.slowStreaming ?? null,
    failing: agents.failing ?? null,
  };
  // A webhook is registered around a run, and there is nobody around the pods.
  if (trial.scenario.needs.includes("receiver"))
    throw new UsageProblem(`${trial.scenario.name} needs a receiver beside the load: run it from one machine.`);
  const lack = lackOfNeeds(trial, {
    agents: roles,
    keys: { main: ground.main, second: ground.second },
    hasReceiver: true,
  });
  if (lack !== null)
    throw new UsageProblem(`${trial.scenario.name}: ${lack.reason}${lack.needs === null ? "" : ` (${lack.needs})`}.`);
  return operatorManifest(trial.scenario, {
    baseUrl: target.baseUrl,
    tier: trial.tier,
    limits: ground.limits,
    agents: roles,
    segments,
    k6Version: pinnedVersion(),
  });
}

/** The version of k6 that `k6/go.mod` pins. */
function pinnedVersion(): string {
  const found = /^\s*go\.k6\.io\/k6\/v2 (v[\d.]+)/m.exec(readFileSync(join(packageRoot, "k6", "go.mod"), "utf8"))?.[1];
  if (found === undefined) throw new Error("k6/go.mod names no version of go.k6.io/k6/v2");
  return found;
}
