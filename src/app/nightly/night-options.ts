import type { RegressionRules } from "../../report/compare/regression-rules.ts";
import type { DamagedNight } from "../../report/history/night.ts";
import type { Retention } from "./history-store.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Patch } from "../../reference/patch.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import type { Target } from "../../target/target.ts";
import type { RunEvents } from "../judge/judge.ts";
import type { AvailableEngines } from "../load/engines.ts";
import type { LoadEvents } from "../load/load-events.ts";
import type { LoadPreview } from "../load/plan-load.ts";
import type { LoadParameters } from "../load/load-parameters.ts";

/** Follows a night. */
export interface NightEvents {
  /** Entries of the history that cannot be read, before anything is sent. */
  readonly damaged: (damaged: readonly DamagedNight[]) => void;
  /** Follows the run; after `done`, nothing comes of it. */
  readonly run: { readonly events: RunEvents; readonly done: () => void };
  readonly load: LoadEvents;
  /** These are sent once more, to confirm what looks worse than before. */
  readonly again: (trials: readonly LoadTrial[]) => void;
}

/** The bounds are of run and load together: what reads only sends no load, and load gets what the run has left of its requests. */
export interface RunNightOptions extends RunScope {
  /** Folder of the history; made where it is not there. */
  readonly history: string;
  /** `null`: the embedded server. */
  readonly target: Target | null;
  /** Faults and variants of the embedded server. */
  readonly patches: readonly Patch[];
  /** `null`: no load. Never in turns: what a night is compared with has to be the same load by the same engine. */
  readonly load: Omit<LoadParameters, "maxRequests"> | null;
  readonly engines: AvailableEngines;
  /** Asked before load is sent to a server that is not on loopback. */
  readonly agree: (outlook: LoadPreview) => boolean | Promise<boolean>;
  readonly keep: Retention;
  readonly rules: RegressionRules;
  /** File for the trend page, besides the one in the history; `null`: none. */
  readonly page: string | null;
  readonly view: NightEvents;
  readonly signal: AbortSignal;
}
