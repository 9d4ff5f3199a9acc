import type { ProbeResult } from "../evidence/evidence.ts";
import type { PlannedProbe } from "./plan/plan.ts";
import type { SkipReason } from "./skip-reason.ts";

/** The result of a probe in a run. Unlike in saved evidence, a skip reason is data here and not yet text. */
export type ProbeRunResult = Exclude<ProbeResult, { kind: "skipped" }> | ({ readonly kind: "skipped" } & SkipReason);

export interface ProbeRun {
  readonly planned: PlannedProbe;
  readonly result: ProbeRunResult;
}
