import { exitCodeOf } from "../../report/model/verdict.ts";
import { exitCodes } from "../exit-codes.ts";
import { loadExitCode } from "../load/exit-code.ts";
import type { JudgedVendor } from "../../app/vendors/judge-vendor.ts";

/** From what goes before to what comes last: what is broken is proven, whatever else went wrong. */
const firstOf = [exitCodes.broken, exitCodes.harnessFailed, exitCodes.nothingExercised] as const;

/** The exit code of all vendors together. */
export function vendorsExitCode(judged: readonly JudgedVendor[], isInterrupted: boolean): number {
  if (isInterrupted) return exitCodes.interrupted;
  const codes = new Set(judged.flatMap(codesOf));
  return firstOf.find((code) => codes.has(code)) ?? exitCodes.fine;
}

function codesOf({ vendor, isHarness }: JudgedVendor): number[] {
  if (vendor.kind === "unjudged") return [isHarness ? exitCodes.harnessFailed : exitCodes.nothingExercised];
  const { document, load } = vendor;
  const own = exitCodeOf(document.report, { strict: false, complete: false });
  return load === null ? [own] : [own, loadExitCode(load.report)];
}
