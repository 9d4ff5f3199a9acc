import { customTier, publishedTierNames, publishedTiers, type TierLimits, type TierName } from "../src/spec/tiers.ts";
import type { Flow, Operation, TrafficShape } from "./scenario.ts";

/** What is called. */
export const invoke: Operation = { kind: "invoke", agent: "answering" };
export const slowInvoke: Operation = { kind: "invoke", agent: "slow" };
export const failingInvoke: Operation = { kind: "invoke", agent: "failing" };
export const stream: Operation = { kind: "stream", agent: "streaming" };
export const slowStream: Operation = { kind: "stream", agent: "slowStreaming" };
export const health: Operation = { kind: "health", agent: "answering" };

/** A flow of the main key from the start on whose client stays, but for what is said otherwise. */
export const flow = (name: string, operation: Operation, shape: TrafficShape, other: Partial<Flow> = {}): Flow => ({
  name,
  key: "main",
  operation,
  shape,
  afterSeconds: 0,
  leaveAfterMs: null,
  ...other,
});

/** Tiers of which a burst allowance is shown; that of the custom one is agreed. */
export const tiersWithBurst: readonly TierName[] = [
  ...publishedTierNames.filter((tier) => publishedTiers[tier].burst !== null),
  customTier,
];

/** Half of the slots, and one at least: a server may give a slot back a moment after its answer has arrived. */
export const halfOfSlots = ({ concurrent }: TierLimits): number => Math.max(1, Math.floor(concurrent / 2));

/** A flow each at even intervals: `name-1`, `name-2`, … */
export const repeatEvery = (count: number, one: Flow, everySeconds: number): readonly Flow[] =>
  Array.from({ length: count }, (_, round) => ({
    ...one,
    name: `${one.name}-${round + 1}`,
    afterSeconds: one.afterSeconds + round * everySeconds,
  }));

/** Speed of the embedded server's clock where real time matters. */
export const realTime = (): number => 1;
