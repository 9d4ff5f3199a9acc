import { nightId, readHistory } from "./history-store.ts";
import { UsageError } from "../../base/usage-error.ts";
import { assertLoadParameters } from "../load/plan-load.ts";
import { type SavedNight, saveNight } from "./save-night.ts";
import { executeNight, nameOf } from "./execute-night.ts";
import type { RunNightOptions } from "./night-options.ts";

/**
 * Runs the suites, sends the load, compares with the nights before, and keeps the night in the history. One that was interrupted is not kept.
 *
 * @throws {UsageError} where the history is another target's
 * @throws {LoadProblem} where the load that is wanted cannot be sent, whatever the target answers; nothing was sent then
 */
export async function runNight(options: RunNightOptions): Promise<SavedNight | { readonly kind: "interrupted" }> {
  const { history, target, load, engines, view } = options;
  if (load !== null) assertLoadParameters({ ...load, maxRequests: Number.POSITIVE_INFINITY }, target, engines);
  const before = readHistory(history, Date.now());
  demandSameTarget(before.nights.at(-1)?.target.name ?? null, nameOf(target), history);
  view.damaged(before.damaged);
  const lived = await executeNight({ ...options, id: nightId(new Date()), before: before.nights });
  return lived.interrupted ? { kind: "interrupted" } : saveNight(lived, before, options);
}

/** Nights of two targets in one history would be regressions of each other. */
function demandSameTarget(before: string | null, now: string, history: string): void {
  if (before === null || before === now) return;
  throw new UsageError(
    `${history} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(now)}: give each target a history of its own, or the name that it had.`,
  );
}
