import { assembleLoadReport, loadReportTarget } from "../report/load-report.ts";
import type { RunEnd } from "../../report/model/verdict.ts";
import type { Target } from "../../target/target.ts";
import { packageVersion } from "../version.ts";
import { openLoadWriter, type SentLoad } from "./save-load.ts";
import { rolesIn } from "./target-environment.ts";
import { type NotSentReason, describeNotSent } from "./not-sent-reason.ts";

/**
 * The report of load that was not sent because of what the target did, or because the run was interrupted: whoever waits for a file gets one.
 * `null` where the choice itself was at fault.
 *
 * @param folder where `report.json` is written; `null`: nowhere
 * @param onProblem gets a sentence where that could not be done
 */
export function saveNotSent(
  why: NotSentReason,
  { target, started }: { readonly target: Target | null; readonly started: Date },
  folder: string | null,
  onProblem: (sentence: string) => void,
): SentLoad | null {
  const end = endFor(why);
  if (end === null) return null;
  const keeper = openLoadWriter(target, folder, onProblem);
  const report = assembleLoadReport([], {
    version: packageVersion(),
    target: { ...loadReportTarget(target), ...rolesIn(target) },
    started,
    finished: new Date(),
    waitedMs: 0,
    end,
    fileOf: () => "",
  });
  return {
    document: { report: keeper.keepReport(report), evidence: null, load: new Map() },
    digests: {},
    folder: keeper.folder(),
  };
}

function endFor(why: NotSentReason): RunEnd | null {
  switch (why.kind) {
    case "nothing to load":
      return { kind: "unreachable", why: describeNotSent(why) };
    case "unsendable agent":
    case "interrupted":
      return { kind: "stopped", why: describeNotSent(why) };
    case "unknown scenario":
    case "no engine":
    case "no tier":
    case "no key of the tier":
    case "nothing to send":
    case "several runs":
    case "lacks what it needs":
    case "read only":
    case "not agreed":
      return null;
  }
}
