import { nightId, readHistory } from "../../history/store.ts";
import { UsageProblem } from "../../target/problem.ts";
import { checkWish } from "../load/plan-load.ts";
import { type KeptNight, keepNight } from "./keep-night.ts";
import { liveNight, nameOf } from "./live-night.ts";
import type { RunNightOptions } from "./night-options.ts";

/**
 * Runs the suites, sends the load, compares with the nights before, and keeps the night in the history. One that was interrupted is not kept.
 *
 * @throws {UsageProblem} where the history is another target's
 * @throws {LoadProblem} where the load that is wanted cannot be sent, whatever the target answers; nothing was sent then
 */
export async function runNight(options: RunNightOptions): Promise<KeptNight | { readonly kind: "interrupted" }> {
  const { history, target, load, engines, view } = options;
  if (load !== null) checkWish({ ...load, maxRequests: Number.POSITIVE_INFINITY }, target, engines);
  const before = readHistory(history, Date.now());
  demandSameTarget(before.nights.at(-1)?.target.name ?? null, nameOf(target), history);
  view.damaged(before.damaged);
  const lived = await liveNight({ ...options, id: nightId(new Date()), before: before.nights });
  return lived.interrupted ? { kind: "interrupted" } : keepNight(lived, before, options);
}

/** Nights of two targets in one history would be regressions of each other. */
function demandSameTarget(before: string | null, now: string, history: string): void {
  if (before === null || before === now) return;
  throw new UsageProblem(
    `${history} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(now)}: give each target a history of its own, or the name that it had.`,
  );
}
