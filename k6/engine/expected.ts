import { requestCount } from "../../scenarios/scenario.ts";
import type { TierLimits } from "../../src/spec/tiers.ts";
import type { Flow } from "./flows.ts";

/** How many requests of a flow must be admitted. */
export interface Bounds {
  readonly atLeast: number;
  readonly atMost: number;
}

/** By name of the flow. A flow that is not there is held to nothing but the checks of each answer. */
export type Expected = Readonly<Record<string, Bounds>>;

/** What the expectations of a script are made of. */
export interface Plan {
  readonly limits: TierLimits;
  readonly flows: readonly Flow[];
  /**
   * What a minute admits on a fresh key. The document does not say whether the burst allowance is a part of the minute's limit or comes
   * on top of it; the numbers here are of the first reading, unless the script is run with `-e BURST_ADDS=true`.
   */
  readonly minute: Bounds;
}

export const exactly = (count: number): Bounds => ({ atLeast: count, atMost: count });

export const none: Bounds = exactly(0);

/** Every request of the flows whose name begins so must be admitted; `""` means all flows. */
export function all(plan: Plan, beginning = ""): Expected {
  return Object.fromEntries(named(plan, beginning).map((flow) => [flow.name, boundsOf(flow)]));
}

function named({ flows }: Plan, beginning: string): readonly Flow[] {
  const found = flows.filter(({ name }) => name.startsWith(beginning));
  if (found.length === 0) throw new Error(`No flow's name begins with "${beginning}".`);
  return found;
}

/** A flow that goes on for a time, and not for a number of requests, must have some admitted. */
function boundsOf(flow: Flow): Bounds {
  const requests = requestCount(flow);
  return requests === null ? { atLeast: 1, atMost: Number.MAX_SAFE_INTEGER } : exactly(requests);
}

/** The same bounds for each of the flows whose name begins so. */
export function each(plan: Plan, beginning: string, bounds: Bounds): Expected {
  return Object.fromEntries(named(plan, beginning).map(({ name }) => [name, bounds]));
}

export function planOf(flows: readonly Flow[], limits: TierLimits, burstAdds: boolean): Plan {
  const { perMinute, burst } = limits;
  return { flows, limits, minute: { atLeast: perMinute, atMost: perMinute + (burstAdds ? (burst ?? perMinute) : 0) } };
}
