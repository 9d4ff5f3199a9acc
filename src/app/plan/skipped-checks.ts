import { probesOf, type Suite } from "../../run/judge/check.ts";
import { resolveNeeds, tiersUnderTest } from "../../run/plan/needs.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import type { Probe } from "../../run/probe.ts";
import { type Enabler, fastSkip, needsMoreTime, need, needsTierOfKey, type Messages } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import type { PlanRow } from "./plan-rows.ts";

export interface SkipGroup {
  readonly enabledBy: string;
  readonly checks: readonly string[];
  readonly needingMore: readonly string[];
}

interface SkipConditions {
  readonly target: Target;
  readonly unaffordableProbes: ReadonlySet<PlannedProbe>;
  readonly readOnly: boolean;
  readonly fast: boolean;
  readonly messages: Messages;
}

export function checksByProbe(suites: readonly Suite[]): Map<Probe, string[]> {
  const uses = suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ id, on }) => Object.values(probesOf(on)).map((probe: Probe) => ({ probe, id })));
  return new Map([...Map.groupBy(uses, ({ probe }) => probe)].map(([probe, own]) => [probe, own.map(({ id }) => id)]));
}

export function groupSkippedChecks(
  planned: readonly PlannedProbe[],
  checks: ReadonlyMap<Probe, readonly string[]>,
  circumstances: SkipConditions,
): { readonly isSkipped: (planned: PlannedProbe) => boolean; readonly skipped: readonly SkipGroup[] } {
  const { needs } = circumstances.messages;
  const hints = new Map(planned.map((each) => [each, missingRequirementsOf(each, circumstances).map(needs)]));
  const untested = [...checks.keys()].filter((probe) => !planned.some((each) => each.probe === probe));
  const pairs = [
    ...[...hints].flatMap(([{ probe }, all]) => all.map((hint) => ({ probe, hint }))),
    ...untested.flatMap((probe) =>
      missingRequirementsOfUnplanned(probe, circumstances).map((each) => ({ probe, hint: needs(each) })),
    ),
  ];
  const checksByHint = new Map<string, Set<string>>();
  for (const { probe, hint } of pairs)
    checksByHint.set(hint, (checksByHint.get(hint) ?? new Set()).union(new Set(checks.get(probe))));
  const countOf = (id: string): number => checksByHint.values().reduce((sum, ids) => sum + (ids.has(id) ? 1 : 0), 0);
  const skipped = [...checksByHint]
    .map(([enabledBy, ids]) => ({ enabledBy, checks: [...ids], needingMore: [...ids].filter((id) => countOf(id) > 1) }))
    .toSorted((a, b) => b.checks.length - a.checks.length);
  return { isSkipped: (each) => (hints.get(each) ?? []).length > 0, skipped };
}

function missingRequirementsOf(
  planned: PlannedProbe,
  { target, unaffordableProbes: short, readOnly }: SkipConditions,
): Enabler[] {
  const { probe, skip } = planned;
  if (skip === fastSkip) return [need("fast")];
  const missing = probe.needs.filter((each) => resolveNeeds([each], target).kind === "missing");
  return [
    ...(readOnly && !probe.isReadOnly ? [need("readOnly")] : []),
    ...missing.map(need),
    ...(short.has(planned) ? [needsMoreTime] : []),
  ];
}

function missingRequirementsOfUnplanned(probe: Probe, { target, readOnly, fast }: SkipConditions): Enabler[] {
  if (fast && probe.per === "tier") return [need("fast")];
  if (readOnly && !probe.isReadOnly) return [need("readOnly")];
  return probe.per === "tier" && tiersUnderTest(target).length === 0 ? [needsTierOfKey] : [];
}

export type OpenQuestion =
  | { readonly kind: "which agent" }
  /** The tier of `key` is unknown. Until a response shows it, the run stays below the limits of the free tier. */
  | { readonly kind: "tier of a key"; readonly key: string }
  | { readonly kind: "reach of the receiver"; readonly listen: string }
  | { readonly kind: "retries" }
  /**
   * It is unknown whether `GET /usage` counts towards the rate limits. If not, the run uses up limits with up to
   * `executions` more invokes.
   */
  | { readonly kind: "reading usage counts"; readonly executions: number }
  /** It is unknown how many requests the run sends beyond the plan. For example, the run can retry after a 429. */
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
