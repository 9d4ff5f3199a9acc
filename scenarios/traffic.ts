import type { Flow, Operation, ScenarioLimits, TrafficShape } from "./scenario.ts";

export const invoke: Operation = { kind: "invoke", agent: "answering" };
export const slowInvoke: Operation = { kind: "invoke", agent: "slow" };
export const failingInvoke: Operation = { kind: "invoke", agent: "failing" };
export const stream: Operation = { kind: "stream", agent: "streaming" };
export const slowStream: Operation = { kind: "stream", agent: "slowStreaming" };
export const health: Operation = { kind: "health", agent: "answering" };

/** Makes a flow. By default it uses the main key and starts at once, and its client never disconnects. */
export const flow = (name: string, operation: Operation, shape: TrafficShape, other: Partial<Flow> = {}): Flow => ({
  name,
  key: "main",
  operation,
  shape,
  afterSeconds: 0,
  leaveAfterMs: null,
  ...other,
});

/** Returns half of the concurrency slots. The other half is a reserve for slots that the server frees late. */
export const halfOfSlots = ({ concurrent }: ScenarioLimits): number => Math.max(1, Math.floor(concurrent / 2));

/** Makes copies of a flow that start at equal intervals, with the names `name-1`, `name-2`, … */
export const repeatEvery = (everySeconds: number, count: number, original: Flow): readonly Flow[] =>
  Array.from({ length: count }, (_, round) => ({
    ...original,
    name: `${original.name}-${round + 1}`,
    afterSeconds: original.afterSeconds + round * everySeconds,
  }));

export const realTime = (): number => 1;
