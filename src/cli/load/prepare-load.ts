import { extname, join } from "node:path";

import { slug, timeInName } from "../../base/file-names.ts";
import { type LoadTrial, trialName } from "../../load/trials.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import type { Target } from "../../target/target.ts";
import { prepareFile, prepareFolder } from "../output.ts";
import { readRules } from "../report/format-flags.ts";
import { type PreparedFormats, prepareFormats } from "../report/write-formats.ts";
import type { LoadFlags } from "./load-flags.ts";

/** Where a load run writes; made sure of before anything is sent. */
export interface PreparedLoad {
  readonly folder: string;
  readonly formats: PreparedFormats;
  readonly rules: FailurePolicy;
  readonly dashboardFile: string | null;
}

/** @throws {UsageProblem} */
export function prepareLoad(flags: LoadFlags, target: Target | null): PreparedLoad {
  return {
    rules: readRules(flags),
    formats: prepareFormats(flags),
    dashboardFile: flags.k6Dashboard === undefined ? null : prepareFile(flags.k6Dashboard, "--k6-dashboard"),
    folder: prepareFolder(flags.out ?? join("reports", folderName(target))),
  };
}

function folderName(target: Target | null): string {
  return `${timeInName(new Date())}-load-${slug(target?.name ?? "embedded").slice(0, 40)}`;
}

/** One file for one run; of several, each has its run's name in it. */
export function dashboardOf(file: string | null, trial: LoadTrial, trials: number): string | null {
  if (file === null || trial.engine !== "k6") return null;
  if (trials === 1) return file;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${trialName(trial)}${extension}`;
}
