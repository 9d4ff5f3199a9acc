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

/**
 * Returns a Kubernetes manifest for the k6-operator, which runs the only trial of a plan.
 *
 * @throws {UnsendableLoadError} if the plan has several trials, or the target lacks what the scenario needs
 */
export function manifestOf({ trials, tiers }: LoadPlan, target: Target, segments: number, messages: Messages): string {
  const [trial, ...others] = trials;
  if (trial === undefined || others.length > 0)
    throw new UnsendableLoadError({ kind: "several runs", runs: trials.length });
  const tierKeys = tiers?.find(({ tier }) => tier === trial.tier);
  if (tierKeys === undefined) throw new Error(`the plan has no key of the ${trial.tier} tier`);
  const agents = loadAgentsOf(target);
  // No webhook receiver can run: the harness has ended when the pods send.
  if (trial.scenario.needs.includes("receiver")) throw new UnsendableLoadError(missingNeed(trial, noReceiver));
  // Pods cannot use these settings: they run in another network, without the files of this machine.
  if (target.network.ca !== null || target.network.client !== null || target.network.proxy.kind === "always")
    throw new UnsendableLoadError(missingNeed(trial, noNetworkFiles));
  const keys = { main: tierKeys.main, second: tierKeys.second };
  const missing = missingRequirement(trial, { agents, keys, hasReceiver: true });
  if (missing !== null) throw new UnsendableLoadError(missingNeed(trial, describeSkip(missing, messages)));
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

const noReceiver: SkipText = { reason: "it needs a receiver beside the load", needs: "a run from one machine" };

const noNetworkFiles: SkipText = {
  reason: "a manifest carries no proxy, authorities or client certificate",
  needs: "an image that has them, and a target without them",
};

const missingNeed = ({ scenario }: LoadTrial, missing: SkipText): NotSentReason => ({
  kind: "lacks what it needs",
  scenario: scenario.name,
  missing,
});

/** Returns the version of k6 that `k6/go.mod` pins. */
function pinnedVersion(): string {
  const found = /^\s*go\.k6\.io\/k6\/v2 (v[\d.]+)/m.exec(packageText("k6/go.mod"))?.[1];
  if (found === undefined) throw new Error("k6/go.mod names no version of go.k6.io/k6/v2");
  return found;
}
