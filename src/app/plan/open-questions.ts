import type { Target } from "../../target/target.ts";
import type { PlanRow } from "./plan-rows.ts";

/** What a plan cannot know, because it sends nothing. Each way in says it with its own names for what answers it. */
export type OpenQuestion =
  /** The run finds one that answers through the list. */
  | { readonly kind: "which agent" }
  /** Until its headers show it, the run keeps to the limits of free. */
  | { readonly kind: "tier of a key"; readonly key: string }
  /** Nobody said whether the target reaches the harness there. */
  | { readonly kind: "reach of the receiver"; readonly listen: string }
  /** How many retries of a delivery fit the waiting that a run may do. */
  | { readonly kind: "retries" }
  /** Where it does not, invokes use the allowance up: so many executions more. */
  | { readonly kind: "reading usage counts"; readonly executions: number }
  /** What is refused with 429 is sent again, and what needs no key comes on top. */
  | { readonly kind: "more requests" };

export function openQuestions(target: Target, rows: readonly PlanRow[]): OpenQuestion[] {
  const isFound = target.agentSource === "found" && target.agents.answering === undefined;
  const isDelivering = rows.some(({ creates }) => (creates.webhooks ?? 0) + (creates.alerts ?? 0) > 0);
  const tierless = Object.values(target.keys).filter(({ tier, expired }) => tier === null && !expired);
  const filled = rows
    .filter(({ tier, stage }) => tier !== null && stage === "limits")
    .reduce((sum, { requests, executions }) => sum + Math.max(0, requests - executions), 0);
  return [
    ...(isFound ? [{ kind: "which agent" } as const] : []),
    ...tierless.map(({ name }) => ({ kind: "tier of a key", key: name }) as const),
    ...(isDelivering && target.webhooks?.isReachabilityPromised === false
      ? [{ kind: "reach of the receiver", listen: target.webhooks.listen } as const]
      : []),
    ...(isDelivering && target.clock === null ? [{ kind: "retries" } as const] : []),
    ...(filled === 0 ? [] : [{ kind: "reading usage counts", executions: filled } as const]),
    { kind: "more requests" },
  ];
}
