import type { Target, TargetKey } from "../../target/target.ts";
import { type RunBounds, defaultBounds } from "./bounds.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { type SkipReason, need } from "../skip-reason.ts";
import { readOnlyRun } from "../send/client.ts";
import { type Check, probesOf, type Suite } from "../judge/check.ts";
import {
  isKeyNeed,
  resolveKey,
  mainKey,
  type Need,
  resolveNeeds,
  tiersUnderTest,
  type TierUnderTest,
} from "./needs.ts";
import { type Stage, type Probe, requestsOf } from "../probe.ts";

/** A probe that a run has before it, for one instance. */
export interface PlannedProbe {
  readonly probe: Probe;
  /** Tier that it runs for; `null` for a probe that runs once. */
  readonly tested: TierUnderTest | null;
  /** Whether some check judges it; a probe that only serves observations can wait. */
  readonly isJudged: boolean;
  /** Checks of must clauses that judge what it sees. */
  readonly musts: readonly Check[];
  /** Requests that count against its key. */
  readonly requests: number;
  /** Names of the keys that it sends with. */
  readonly keys: readonly string[];
  /** Whether the main key is among them. */
  readonly isOfMain: boolean;
  readonly skip: SkipReason | null;
}

export const stageOrder = [
  "shared",
  "timed",
  "alone",
  "slots",
  "limits",
  "visits",
  "afterwards",
] as const satisfies readonly Stage[];

/** Every probe that the selected checks rest on, in the order of the suites, each once for each of its instances. */
export function planProbes(
  suites: readonly Suite[],
  target: Target,
  { readOnly, maxWindow }: Pick<RunBounds, "readOnly" | "maxWindow"> = defaultBounds,
): PlannedProbe[] {
  const judged = new Map<Probe, boolean>();
  const musts = new Map<Probe, Check[]>();
  for (const { checks } of suites)
    for (const check of checks)
      for (const probe of [...Object.values(probesOf(check.on)), ...check.also]) {
        const { level } = clauseOf(check.clause);
        judged.set(probe, (judged.get(probe) ?? false) || level !== "gap");
        if (level === "must") musts.set(probe, [...(musts.get(probe) ?? []), check]);
      }
  for (const { checks } of suites)
    for (const { matrix } of checks)
      if (matrix !== null && matrix.coverageProbe !== null) judged.set(matrix.coverageProbe, true);
  const tiers = tiersUnderTest(target);
  const main = mainKey(target);
  const inOrder = target.clock === null ? webhooksFirst([...judged]) : [...judged];
  return inOrder.flatMap(([probe, isJudged]): PlannedProbe[] => {
    const lacking = readOnly && !probe.isReadOnly ? readOnlyRun : missing(probe.needs, target);
    const own = musts.get(probe) ?? [];
    return (probe.per === "target" ? [null] : tiers).map((tested) => {
      const keys = keysOf(probe, tested, target);
      const isOfMain = main !== null && keys.includes(nameOf(main, target));
      const requests = requestsOf(probe, tested, target);
      const skip = lacking ?? tooLarge(probe, tested, maxWindow);
      return { probe, tested, isJudged, musts: own, requests, keys, isOfMain, skip };
    });
  });
}

/** Names of the keys that a probe sends with; those that are one key under several names are one. */
function keysOf(probe: Probe, tested: TierUnderTest | null, target: Target): string[] {
  const used = probe.per === "target" ? ownKeys(probe.keys, target) : [tested?.key, tested?.siblingKey];
  const needed = probe.needs.filter(isKeyNeed).map((each) => resolveKey(each, target));
  return [
    ...new Set([...used, ...needed].flatMap((key) => (key === undefined || key === null ? [] : [nameOf(key, target)]))),
  ];
}

const nameOf = ({ key, name }: TargetKey, { keys }: Target): string =>
  Object.values(keys).find((each) => each.key === key)?.name ?? name;

const ownKeys = (
  keys: ((target: Target) => readonly TargetKey[]) | null,
  target: Target,
): readonly (TargetKey | null)[] => {
  const own = keys?.(target) ?? [];
  return own.length > 0 ? own : [mainKey(target)];
};

/** On a real clock, what creates webhooks comes before the others of its lane: the time of their retries passes while those wait. */
const webhooksFirst = (judged: readonly (readonly [Probe, boolean])[]): (readonly [Probe, boolean])[] =>
  judged.toSorted(([one], [other]) => Number(createsWebhooks(other)) - Number(createsWebhooks(one)));

export const createsWebhooks = ({ creates }: Probe): boolean => (creates.webhooks ?? 0) > 0;

function missing(needs: readonly Need[], target: Target): PlannedProbe["skip"] {
  const resolved = resolveNeeds(needs, target);
  if (resolved.kind === "given") return null;
  return { reason: `the target has no \`${resolved.need}\``, needs: need(resolved.need) };
}

/** A window so large is used up only where somebody asks for it: that takes minutes, and what it asks for may cost money. */
function tooLarge(probe: Probe, tested: TierUnderTest | null, maxWindow: number): PlannedProbe["skip"] {
  const requests = probe.per === "tier" && tested !== null ? (probe.window?.(tested) ?? 0) : 0;
  return requests <= maxWindow ? null : { reason: { why: "large window", requests }, needs: need("maxWindow") };
}
