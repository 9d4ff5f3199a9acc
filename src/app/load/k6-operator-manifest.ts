import { packageText } from "../../base/package-root.ts";
import { operatorManifest } from "../../load/engines/k6/operator.ts";
import { missingRequirement } from "../../load/run-trials.ts";
import { type SkipText, describeSkip, type Messages } from "../../run/skip-reason.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { roleRequestsOf } from "../../target/own-request.ts";
import type { Target } from "../../target/target.ts";
import { UnsendableLoadError, type NotSentReason } from "./not-sent-reason.ts";
import type { LoadPlan } from "./plan-load.ts";
import { loadAgentsOf } from "./target-environment.ts";

export function k6OperatorManifest(
  { trials, tiers }: LoadPlan,
  target: Target,
  segments: number,
  messages: Messages,
): string {
  const [trial, ...others] = trials;
  if (trial === undefined || others.length > 0)
    throw new UnsendableLoadError({ kind: "several runs", runs: trials.length });
  const tierKeys = tiers?.find(({ tier }) => tier === trial.tier);
  if (tierKeys === undefined) throw new Error(`the plan has no key of the ${trial.tier} tier`);
  const agents = loadAgentsOf(target);
  // The pods send the load after the harness has exited. Therefore, the harness cannot receive webhooks.
  if (trial.scenario.needs.includes("receiver"))
    throw new UnsendableLoadError(missingRequirementReason(trial, receiverMissing));
  // Pods of a cluster cannot use this machine's proxy and certificate files, because they run elsewhere.
  if (target.network.ca !== null || target.network.client !== null || target.network.proxy.kind === "always")
    throw new UnsendableLoadError(missingRequirementReason(trial, networkFilesMissing));
  const keys = { main: tierKeys.main, second: tierKeys.second };
  const missing = missingRequirement(trial, { agents, keys, hasReceiver: true });
  if (missing !== null) throw new UnsendableLoadError(missingRequirementReason(trial, describeSkip(missing, messages)));
  return operatorManifest(trial.scenario, {
    baseUrl: target.baseUrl,
    tier: trial.tier,
    limits: tierKeys.limits,
    agents,
    roleRequests: roleRequestsOf(target),
    segments,
    k6Version: pinnedVersion(),
  });
}

const receiverMissing: SkipText = { reason: "it needs a receiver beside the load", needs: "a run from one machine" };

const networkFilesMissing: SkipText = {
  reason: "a manifest carries no proxy, authorities or client certificate",
  needs: "an image that has them, and a target without them",
};

const missingRequirementReason = ({ scenario }: LoadTrial, missing: SkipText): NotSentReason => ({
  kind: "lacks what it needs",
  scenario: scenario.name,
  missing,
});

function pinnedVersion(): string {
  const found = /^\s*go\.k6\.io\/k6\/v2 (v[\d.]+)/m.exec(packageText("k6/go.mod"))?.[1];
  if (found === undefined) throw new Error("k6/go.mod names no version of go.k6.io/k6/v2");
  return found;
}
