import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver } from "../receiver/receiver.ts";
import type { Client } from "./send/client.ts";
import type { Recorder } from "./send/recorder.ts";
import type { ResolvedNeeds, Need, TierUnderTest } from "./plan/needs.ts";
import type { RunClock } from "./time/run-clock.ts";
import type { Target, TargetKey } from "../target/target.ts";

/**
 * The stage of the run in which a probe runs. The stages follow each other in this order.
 *
 * - `shared`: concurrently with others, on the main key.
 * - `agent time`: waits for agents that take their time.
 * - `exclusive`: one at a time for each key, because the probe counts an allowance or lets time pass.
 * - `concurrency`: one at a time for each key, because the probe holds slots. Keys run concurrently if agents use
 * real time.
 * - `limits`: one at a time for each key, because the probe uses a key up, or tries invalid keys on everything that
 * the run has created.
 * - `coverage`: requests cases that no other probe has covered.
 * - `review`: sends nothing, and looks at what was recorded.
 */
export const stages = ["shared", "agent time", "exclusive", "concurrency", "limits", "coverage", "review"] as const;
export type Stage = (typeof stages)[number];

/** What a probe receives. */
export interface ProbeContext<N extends Need = never> {
  readonly given: ResolvedNeeds<N>;
  /** Sends with the main key of the run. */
  readonly client: Client;
  readonly time: RunClock;
  readonly target: Target;
  readonly recorder: Recorder;
  /** Responses of the discovery before the run, so that no probe repeats those requests. */
  readonly discovery: Discovery;
  /** Opens the receiver, for probes that use one only if the target has it. */
  readonly receiver: () => Promise<Receiver>;
  /** Only GET may be sent. */
  readonly readOnly: boolean;
}

/** The exchanges of the discovery before a run. They show whether the target serves this interface. */
export interface Discovery {
  /** `GET /agents?page=1&limit=2` with the main key. */
  readonly listing: Exchange;
  /** `GET /usage` with the main key. */
  readonly usage: Exchange;
  /** Health of the candidate agents. These requests do not count against limits. */
  readonly health: readonly Exchange[];
  /**
   * A first invoke of the agent that was found through the list. `null` if the user named an agent, or none was
   * found.
   */
  readonly invoked: Exchange | null;
}

export interface TierProbeContext<N extends Need = never> extends ProbeContext<N> {
  readonly tested: TierUnderTest;
}

/** Objects that a probe leaves on the target for good: the interface cannot delete them. */
export interface Creations {
  readonly webhooks?: number;
  readonly alerts?: number;
  readonly operations?: number;
}

/**
 * Real time that a probe waits by itself, without a test clock. Waits for the limits of its key are not included.
 *
 * - `required`: takes `seconds` of the run's waiting time. The probe is skipped if less is left.
 * - `since the start`: the same, but waits only until `seconds` of the run have passed.
 * - `optional`: takes `seconds` if that much is left. The probe runs without the wait otherwise.
 * - `until exhausted`: takes what is left, until `seconds` have passed since the probe `after` ended. Does not wait
 * if that probe did not run.
 * - `reserved`: the target may take `seconds` to respond. That much must be left, but is not taken.
 */
export type WaitOptions = {
  /** Longest wait in seconds. A function if it depends on the target. */
  readonly seconds: number | ((target: Target) => number);
} & (
  | { readonly mode: "required" | "since the start" | "optional" | "reserved" }
  | { readonly mode: "until exhausted"; readonly after: string }
);

interface ProbeOptions<N extends Need> {
  readonly needs?: readonly N[];
  /** Sends only GET, so the probe also runs in read-only mode. */
  readonly reads?: true;
  readonly creates?: Creations;
  /** What the probe creates with a key of few requests, if that is less. */
  readonly createsFew?: Creations;
  /** Requests that count against the main key. A function if the number depends on the target. */
  readonly requests: number | ((target: Target) => number);
  /** Agent executions. Default: one for each request if the probe needs an agent, else none. */
  readonly executions?: number;
  readonly waits?: WaitOptions;
  readonly stage?: Stage;
  /** Keys to use instead of the main key, in addition to the keys in `needs`. */
  readonly keys?: (target: Target) => readonly TargetKey[];
  /** The probe drops requests for which too little waiting time is left. */
  readonly mayDropRequests?: true;
  /**
   * The probe sends one read that is admitted. With few requests a minute it runs before the limits, which use up the
   * rest of the window.
   */
  readonly countsTowardWindow?: true;
}

interface TierProbeOptions<N extends Need> {
  readonly needs?: readonly N[];
  readonly stage?: "exclusive" | "concurrency" | "limits";
  readonly requests: (tested: TierUnderTest) => number;
  /** Longest time that the probe must wait, in seconds of the target's clock. */
  readonly waitSeconds: (tested: TierUnderTest) => number;
  /** Extra seconds to reserve for a second measurement. The probe still works without them. Default 0. */
  readonly optionalWaitSeconds?: number;
  /** Requests in the window that the probe uses up. */
  readonly window?: (tested: TierUnderTest) => number;
  /** Approximate agent executions. Default: one for each request. */
  readonly executions?: (tested: TierUnderTest) => number;
  /**
   * Whether the probe may run for several tiers at once on a test clock: its result does not depend on how much real
   * time its waits take.
   */
  readonly concurrent?: true;
}

interface ProbeBase {
  /** Unique, and shown to users: "an agent is invoked". */
  readonly name: string;
  readonly needs: readonly Need[];
  readonly stage: Stage;
  readonly isReadOnly: boolean;
  /** Most objects that the probe leaves on the target. */
  readonly creates: Creations;
  /** The same with a key of few requests. */
  readonly createsFew: Creations;
}

/** Does one thing to a target, and returns evidence as plain JSON. */
export type Probe<E = unknown> = ProbeBase &
  (
    | {
        readonly per: "target";
        readonly requests: number | ((target: Target) => number);
        readonly executions: number | null;
        /** `null` if only the limits of its key can delay the probe. */
        readonly waits: WaitOptions | null;
        /** Keys to use instead of the main key. `null` for the main key. */
        readonly keys: ((target: Target) => readonly TargetKey[]) | null;
        /** Whether the probe drops requests for which too little waiting time is left. */
        readonly mayDropRequests: boolean;
        /** Whether the probe's single request counts toward a window that is used up later. */
        readonly countsTowardWindow: boolean;
        readonly run: (scene: ProbeContext<Need>) => Promise<E>;
      }
    | {
        readonly per: "tier";
        readonly requests: (tested: TierUnderTest) => number;
        readonly waitSeconds: (tested: TierUnderTest) => number;
        readonly optionalWaitSeconds: number;
        /** `null` if the probe uses up no window. */
        readonly window: ((tested: TierUnderTest) => number) | null;
        readonly executions: ((tested: TierUnderTest) => number) | null;
        /** Whether the probe may run for several tiers at once on a shared test clock. */
        readonly isConcurrent: boolean;
        readonly run: (scene: TierProbeContext<Need>) => Promise<E>;
      }
  );

export const probe = <E, const N extends Need = never>(
  name: string,
  {
    needs = [],
    requests,
    executions,
    waits,
    stage = "shared",
    keys,
    reads,
    creates = {},
    createsFew = creates,
    mayDropRequests,
    countsTowardWindow,
  }: ProbeOptions<N>,
  run: (scene: ProbeContext<N>) => Promise<E>,
): Probe<E> => ({
  name,
  needs,
  stage,
  isReadOnly: reads === true || stage === "review",
  creates,
  createsFew,
  per: "target",
  requests,
  executions: executions ?? null,
  waits: waits ?? null,
  keys: keys ?? null,
  mayDropRequests: mayDropRequests === true,
  countsTowardWindow: countsTowardWindow === true,
  run,
});

/** Creates a probe that runs once for each tier that the target has a key for. */
export const tierProbe = <E, const N extends Need = never>(
  name: string,
  {
    needs = [],
    stage = "limits",
    requests,
    executions,
    waitSeconds,
    optionalWaitSeconds = 0,
    window,
    concurrent,
  }: TierProbeOptions<N>,
  run: (scene: TierProbeContext<N>) => Promise<E>,
): Probe<E> => ({
  name,
  needs,
  stage,
  isReadOnly: false,
  creates: {},
  createsFew: {},
  per: "tier",
  requests,
  waitSeconds,
  optionalWaitSeconds: optionalWaitSeconds,
  executions: executions ?? null,
  window: window ?? null,
  isConcurrent: concurrent === true,
  run,
});

/** Requests of a probe that count against its key. */
export function requestsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "target")
    return typeof planned.requests === "number" ? planned.requests : planned.requests(target);
  if (tested === null) throw new Error(`the probe "${planned.name}" was planned without a tier`);
  return planned.requests(tested);
}

/** Approximate agent executions of a probe. Failures count, refused requests do not. */
export function executionsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "tier" && tested !== null && planned.executions !== null) return planned.executions(tested);
  if (planned.per === "target" && planned.executions !== null) return planned.executions;
  const isOfAgent = planned.needs.some((need) => need.startsWith("agents."));
  return isOfAgent && !planned.isReadOnly ? requestsOf(planned, tested, target) : 0;
}
