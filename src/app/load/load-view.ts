import type { LoadProgress } from "../../load/engine.ts";
import type { TrialResult } from "../../load/conduct.ts";
import type { LoadTrial } from "../../load/conduct-trials.ts";
import type { Outlook } from "./plan-load.ts";

/** Follows load that is sent. */
export interface LoadView {
  /** Before anything but the first look is sent. */
  readonly planned: (outlook: Outlook) => void;
  readonly trial: (trial: LoadTrial, at: number, of: number) => void;
  readonly waiting: (ms: number, why: string) => void;
  readonly progress: (progress: LoadProgress) => void;
  readonly outcome: (outcome: TrialResult) => void;
  /** What went wrong beside the load, such as a file that could not be written, in one sentence. */
  readonly problem: (sentence: string) => void;
  /** Nothing follows for now. */
  readonly done: () => void;
}

export const silentView: LoadView = {
  planned() {},
  trial() {},
  waiting() {},
  progress() {},
  outcome() {},
  problem() {},
  done() {},
};
