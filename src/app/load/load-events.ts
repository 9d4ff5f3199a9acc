import type { LoadProgress } from "../../load/engine.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { LoadPreview } from "./plan-load.ts";

/** Follows load that is sent. */
export interface LoadEvents {
  /** Before anything but the first look is sent. */
  readonly planned: (outlook: LoadPreview) => void;
  readonly trial: (trial: LoadTrial, at: number, of: number) => void;
  readonly waiting: (ms: number, why: string) => void;
  readonly progress: (progress: LoadProgress) => void;
  readonly outcome: (outcome: TrialResult) => void;
  /** What went wrong beside the load, such as a file that could not be written, in one sentence. */
  readonly problem: (sentence: string) => void;
  /** Nothing follows for now. */
  readonly done: () => void;
}

export const silentLoadEvents: LoadEvents = {
  planned() {},
  trial() {},
  waiting() {},
  progress() {},
  outcome() {},
  problem() {},
  done() {},
};
