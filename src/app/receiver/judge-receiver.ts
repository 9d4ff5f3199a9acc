import { assertOpenFiles } from "../../base/open-files.ts";
import { type DeliverySettings, runDeliveries } from "../../run/run-deliveries.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { latestRequirements } from "../../spec/requirements.ts";
import { suitesOfParty } from "../../suites/all.ts";
import type { Target } from "../../target/target.ts";
import { redactRun } from "../judge/redacted-run.ts";
import type { JudgedTarget, RunEvents } from "../judge/judge-target.ts";
import { packageVersion } from "../../base/package-root.ts";

export interface JudgeReceiverOptions extends DeliverySettings {
  readonly target: Target;
  readonly messages: Messages;
  /** When this signal aborts, the run ends early and judges the evidence that it has. */
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe">;
}

/**
 * Maximum number of connections of a run. A run sends at most 20 deliveries at the same time, and the rest is reserve.
 */
const maxConnections = 32;

/**
 * Sends deliveries to a webhook receiver, and judges its responses by the clauses for receivers. Writes no files.
 *
 * @throws {HarnessLimit} if this process cannot open as many connections as the run may need
 */
export async function judgeReceiver({ progress, messages, ...options }: JudgeReceiverOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnections);
  const { target, signal } = options;
  progress.onStart?.(target);
  const started = new Date();
  const result = await runDeliveries({
    ...options,
    suites: suitesOfParty("receiver"),
    onPlan: (probes) => progress.onPlan?.(probes),
    onProbe: ({ planned }) => progress.onProbe?.(planned.probe.name),
  });
  const occasion = {
    version: packageVersion(),
    party: "receiver",
    requirements: latestRequirements,
    started,
    finished: new Date(),
    unselected: [],
    messages,
  } as const;
  return { ...redactRun(result, occasion, { target, messages, signal }), target };
}
