import type { Target } from "../target/target.ts";
import { clauseOf } from "../interface/clauses.ts";
import { type Lack, need } from "./lack.ts";
import { readOnlyRun } from "./client.ts";
import { probesOf, type Suite } from "./check.ts";
import { type Need, resolveNeeds, tiersUnderTest, type TierUnderTest } from "./needs.ts";
import type { Lane, Probe } from "./probe.ts";

/** A probe that a run has before it, for one instance. */
export interface PlannedProbe {
  readonly probe: Probe;
  /** Tier that it runs for; `null` for a probe that runs once. */
  readonly tested: TierUnderTest | null;
  /** Whether some check judges it; a probe that only serves observations can wait. */
  readonly isJudged: boolean;
  readonly skip: Lack | null;
}

export const laneOrder = ["shared", "alone", "limits", "visits", "afterwards"] as const satisfies readonly Lane[];

/** Every probe that the selected checks rest on, in the order of the suites, each once for each of its instances. */
export function planProbes(suites: readonly Suite[], target: Target, isReadOnly = false): PlannedProbe[] {
  const judged = new Map<Probe, boolean>();
  for (const { checks } of suites)
    for (const check of checks)
      for (const probe of [...Object.values(probesOf(check.on)), ...check.also])
        judged.set(probe, (judged.get(probe) ?? false) || clauseOf(check.clause).level !== "gap");
  for (const { checks } of suites)
    for (const { universe } of checks)
      if (universe !== null && universe.visitor !== null) judged.set(universe.visitor, true);
  const tiers = tiersUnderTest(target);
  const inOrder = target.clock === null ? webhooksFirst([...judged]) : [...judged];
  return inOrder.flatMap(([probe, isJudged]): PlannedProbe[] => {
    const skip = isReadOnly && !probe.isReadOnly ? readOnlyRun : missing(probe.needs, target);
    if (probe.per === "target") return [{ probe, tested: null, isJudged, skip }];
    return tiers.map((tested) => ({ probe, tested, isJudged, skip }));
  });
}

/** On a real clock, what creates webhooks comes before the others of its lane: the time of their retries passes while those wait. */
const webhooksFirst = (judged: readonly (readonly [Probe, boolean])[]): (readonly [Probe, boolean])[] =>
  judged.toSorted(([one], [other]) => Number(createsWebhooks(other)) - Number(createsWebhooks(one)));

export const createsWebhooks = ({ creates }: Probe): boolean => (creates.webhooks ?? 0) > 0;

function missing(needs: readonly Need[], target: Target): PlannedProbe["skip"] {
  const resolved = resolveNeeds(needs, target);
  if (resolved.kind === "given") return null;
  return { reason: `the target has no \`${resolved.need}\``, needs: need(resolved.need) };
}
