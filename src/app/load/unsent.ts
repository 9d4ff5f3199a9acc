import { assembleLoadReport, loadTargetOf } from "../../report/assemble/load-report.ts";
import type { RunEnd } from "../../report/verdict.ts";
import type { Target } from "../../target/target.ts";
import { packageVersion } from "../version.ts";
import { keepLoad, type SentLoad } from "./keep-load.ts";
import { rolesIn } from "./target-ground.ts";
import { type NoLoad, noLoadText } from "./no-load.ts";

/**
 * The report of load that was not sent because of what the target did, or because the run was interrupted: whoever waits for a file gets one.
 * `null` where the choice itself was at fault.
 *
 * @param folder where `report.json` is written; `null`: nowhere
 * @param onProblem gets a sentence where that could not be done
 */
export function keepUnsent(
  why: NoLoad,
  { target, started }: { readonly target: Target | null; readonly started: Date },
  folder: string | null,
  onProblem: (sentence: string) => void,
): SentLoad | null {
  const end = endFor(why);
  if (end === null) return null;
  const keeper = keepLoad(target, folder, onProblem);
  const report = assembleLoadReport([], {
    version: packageVersion(),
    target: { ...loadTargetOf(target), ...rolesIn(target) },
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

function endFor(why: NoLoad): RunEnd | null {
  switch (why.kind) {
    case "nothing to load":
      return { kind: "unreachable", why: noLoadText(why) };
    case "unsendable agent":
    case "interrupted":
      return { kind: "stopped", why: noLoadText(why) };
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
