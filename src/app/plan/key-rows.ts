import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import type { Target } from "../../target/target.ts";
import type { PlanRow } from "./plan-rows.ts";

/** What a key is used for, all together. */
export interface KeyRow {
  readonly key: string;
  readonly tier: string | null;
  /** Whether the tier's numbers are known; where they are not, those of `free` are kept to. */
  readonly isTierKnown: boolean;
  readonly requests: number;
  /** Real time, in seconds, in which its limits hold requests back and its windows pass, at most; 0 where a clock is moved. */
  readonly waitSeconds: number;
}

/** @param looked what the look before the first probe sends with its key */
export function keyRows(
  rows: readonly PlanRow[],
  looked: { readonly key: string; readonly requests: number },
  target: Target,
): KeyRow[] {
  const byKey = Map.groupBy(rows, ({ keys: [first] }) => first);
  return [...new Set([looked.key, ...byKey.keys()])].flatMap((name): KeyRow[] => {
    const key = target.keys[name];
    if (key === undefined) return [];
    const used = byKey.get(name) ?? [];
    const limits = limitsOf(key, target);
    const first = name === looked.key ? looked.requests : 0;
    const paced = first + sumOf(used.filter(({ tier }) => tier === null));
    const waitSeconds = heldBackSeconds(paced, limits ?? publishedTiers.free) + longestWaits(used);
    return [
      {
        key: name,
        tier: key.tier,
        isTierKnown: limits !== null,
        requests: first + sumOf(used),
        waitSeconds: target.clock === null ? waitSeconds : 0,
      },
    ];
  });
}

const sumOf = (rows: readonly PlanRow[]): number => rows.reduce((sum, { requests }) => sum + requests, 0);

/** A window is taken for over a second late, because headers speak in whole seconds. */
const minuteSeconds = 61;

/** How long the limit of a minute holds back so many requests. */
const heldBackSeconds = (requests: number, { perMinute }: TierLimits): number =>
  Math.max(0, Math.ceil(requests / perMinute) - 1) * minuteSeconds;

const longestWaits = (rows: readonly PlanRow[]): number =>
  Math.ceil(rows.reduce((sum, { waitSeconds }) => sum + waitSeconds, 0));
