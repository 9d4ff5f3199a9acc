import { rounded } from "../base/numbers.ts";
import { type Flow, requestCount } from "./scenarios.ts";
import type { TierLimits } from "../spec/tiers.ts";
import type { LoadTrial } from "./trials.ts";

/** What a trial is going to send, as far as that is known before. */
export interface Estimate {
  readonly trial: LoadTrial;
  /** What it sends at least: the flows whose size is known, and what is looked at around them. */
  readonly requests: number;
  /** What answers decide, in words, such as `as many as 5 connections can in 3 s`; none where `requests` is all. */
  readonly openEnded: readonly string[];
  /** Whether it asks for more than a key's minute, hour or slots admit. */
  readonly isBeyondLimit: boolean;
  /** About how many real seconds it takes. */
  readonly seconds: number;
}

/** Starting k6, or a process that sends, takes about so long. */
const startSeconds = { k6: 1.5, autocannon: 0.5 } as const;

/** @param speed how many times as fast as ours the target's clock runs */
export function estimateTrial(trial: LoadTrial, limits: TierLimits, speed: number): Estimate {
  const { scenario, engine } = trial;
  const flows = scenario.flows(limits);
  const known = flows.reduce((sum, flow) => sum + (requestCount(flow) ?? 0), 0);
  return {
    trial,
    requests: known + aroundOf(trial),
    openEnded: flows.flatMap((flow) => openText(flow, limits, speed) ?? []),
    isBeyondLimit: flows.some((flow) => isBeyond(flow, limits)) || mostOnOneKey(flows) > limits.perMinute,
    seconds: scenario.seconds(limits) / speed + startSeconds[engine],
  };
}

/** Requests besides the flows: a look at an agent's health, the ledger before and after, a webhook. */
function aroundOf({ scenario: { claims, needs } }: LoadTrial): number {
  const ledger = claims.some((claim) => claim === "USE-7" || claim === "USE-8") ? 2 : 0;
  return 1 + ledger + (needs.includes("receiver") ? 1 : 0);
}

function openText({ shape }: Flow, { perMinute }: TierLimits, speed: number): string | null {
  if (shape.kind === "closed")
    return `as many as ${shape.atOnce} ${shape.atOnce === 1 ? "connection" : "connections"} can in ${rounded(shape.seconds / speed, 1)} s`;
  if (shape.kind === "after refusal") return `${shape.rounds} times until one is refused (about ${perMinute + 3} each)`;
  return null;
}

function isBeyond({ operation, shape }: Flow, limits: TierLimits): boolean {
  if (operation.kind === "health") return false;
  if (shape.kind === "closed" || shape.kind === "after refusal") return true;
  const { concurrent } = limits;
  return shape.kind === "at once" && shape.requests > concurrent;
}

function mostOnOneKey(flows: readonly Flow[]): number {
  const limited = flows.filter(({ operation }) => operation.kind !== "health");
  const sums = [...Map.groupBy(limited, ({ key }) => key).values()].map((members) =>
    members.reduce((sum, flow) => sum + (flow.shape.kind === "paced" ? 0 : (requestCount(flow) ?? 0)), 0),
  );
  return Math.max(0, ...sums);
}
