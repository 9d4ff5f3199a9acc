import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver } from "../receiver/receiver.ts";
import type { Client } from "./send/client.ts";
import type { OutageMonitor } from "./send/outages.ts";
import type { Recorder } from "./send/recorder.ts";
import type { ResolvedNeeds, Need, TierUnderTest } from "./plan/needs.ts";
import type { RunClock } from "./time/run-clock.ts";
import { firstRequirements, type RequirementSet } from "../spec/requirements.ts";
import type { Target, TargetKey } from "../target/target.ts";

/**
 * The stages of a run, in order.
 *
 * - `opening`: one at a time, before every other, because the probe sends the first requests of keys.
 * - `shared`: concurrently with others, on the main key.
 * - `agent time`: waits for slow agents.
 * - `exclusive`: one at a time for each key, because the probe counts an allowance or lets time pass.
 * - `concurrency`: one at a time for each key, because the probe holds slots. Keys run concurrently if agents use
 * real time.
 * - `limits`: one at a time for each key, because the probe uses up a key, or tries invalid keys on all objects of
 * the run.
 * - `coverage`: requests cases that no other probe has covered.
 * - `review`: sends nothing, and reads the recorded exchanges.
 */
export const stages = [
  "opening",
  "shared",
  "agent time",
  "exclusive",
  "concurrency",
  "limits",
  "coverage",
  "review",
] as const;
export type Stage = (typeof stages)[number];

/** Everything that a probe gets to work with. */
export interface ProbeContext<N extends Need = never> {
  readonly given: ResolvedNeeds<N>;
  /** Sends with the main key of the run. */
  readonly client: Client;
  readonly time: RunClock;
  readonly target: Target;
  readonly recorder: Recorder;
  readonly outages: OutageMonitor;
  /** Responses of the discovery before the run, so that no probe repeats those requests. */
  readonly discovery: Discovery;
  /** Opens the receiver, for probes that use one only if the target has it. */
  readonly receiver: () => Promise<Receiver>;
  /** Whether only GET may be sent. */
  readonly readOnly: boolean;
}

/** The exchanges of the discovery before a run. They show whether the target serves this interface. */
export interface Discovery {
  /** `GET /agents?page=1&limit=2` with the main key. */
  readonly listing: Exchange;
  /** `GET /usage` with the main key. */
  readonly usage: Exchange;
  /**
   * Two more reads of the list or of usage if the other is missing. They show whether such a read counts. Else empty.
   */
  readonly again?: readonly Exchange[];
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
 * - `optional`: takes `seconds` if the run has enough waiting time. Otherwise the probe runs without the wait.
 * - `until exhausted`: takes the rest of the waiting time, at most until `seconds` after the end of the probe
 * `after`. Does not wait if the probe `after` did not run.
 * - `reserved`: the target may take `seconds` to respond. The run must have enough waiting time, but does not spend
 * it.
 */
export type WaitOptions = {
  /** Longest wait in seconds. A function if it depends on the target. */
  readonly seconds: number | ((target: Target) => number);
} & (
  | { readonly mode: "required" | "since the start" | "optional" | "reserved" }
  | { readonly mode: "until exhausted"; readonly after: string }
);

/** The cost and behaviour of a probe that runs once. */
interface ProbeTraits {
  /**
   * Requests that count against the main key, or the first of `keys`. A function if the number depends on the target.
   */
  readonly requests: number | ((target: Target) => number);
  /** Agent executions. Default: one for each request if the probe needs an agent, else none. */
  readonly executions?: number | ((target: Target) => number);
  /** Waits in addition to those for the limits of the probe's key. Default: none. */
  readonly waits?: WaitOptions;
  /** Keys to use instead of the main key, in addition to the keys in `needs`. */
  readonly keys?: (target: Target) => readonly TargetKey[];
  /** The probe leaves out requests that would have to wait too long. */
  readonly mayDropRequests?: true;
  /**
   * The probe sends a single read, which is admitted. With few requests a minute it runs before the limits, which need
   * a full count of the window.
   */
  readonly countsTowardWindow?: true;
  /** The checks judge what happens after the end of the probe, such as the retries of a delivery. */
  readonly isJudgedLater?: true;
}

/** The cost and behaviour of a probe that runs once for each tier. */
interface TierProbeTraits {
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
   * On a test clock, the probe may run for several tiers at once. Its result must not depend on how much real time its
   * waits take.
   */
  readonly concurrent?: true;
}

/** Options that probes of a target and of its tiers share. */
interface SharedOptions<E, N extends Need> {
  readonly needs?: readonly N[];
  /** The requirement set that needs the probe. Checks of earlier sets do not judge its requests. Default: 1.0. */
  readonly since?: RequirementSet;
  /** Returns the evidence without the requests of probes of later sets. For reviews of the whole run. */
  readonly narrow?: (evidence: E, requirements: RequirementSet) => E;
}

interface ProbeOptions<E, N extends Need> extends ProbeTraits, SharedOptions<E, N> {
  readonly stage?: Stage;
  /** Sends only GET, so the probe also runs in read-only mode. */
  readonly reads?: true;
  /** Probes that prepare the target for this one, in the same stage. A plan lists these probes before this one. */
  readonly after?: readonly Probe[];
  readonly creates?: Creations;
  /** Objects that the probe creates if the key has few requests. Default: `creates`. */
  readonly createsFew?: Creations;
}

interface TierProbeOptions<E, N extends Need> extends TierProbeTraits, SharedOptions<E, N> {
  readonly stage?: "exclusive" | "concurrency" | "limits";
}

interface ProbeBase {
  /** Unique, and shown to users: "an agent is invoked". */
  readonly name: string;
  readonly needs: readonly Need[];
  readonly stage: Stage;
  readonly isReadOnly: boolean;
  readonly creates: Creations;
  readonly createsFew: Creations;
  readonly after?: readonly Probe[];
  readonly since: RequirementSet;
  readonly narrow?: (evidence: never, requirements: RequirementSet) => unknown;
}

/** Does one thing to a target, and returns evidence as plain JSON. */
export type Probe<E = unknown> = ProbeBase &
  (
    | (ProbeTraits & { readonly per: "target"; readonly run: (context: ProbeContext<Need>) => Promise<E> })
    | (TierProbeTraits & { readonly per: "tier"; readonly run: (context: TierProbeContext<Need>) => Promise<E> })
  );

export const probe = <E, const N extends Need = never>(
  name: string,
  {
    needs = [],
    stage = "shared",
    since = firstRequirements,
    reads,
    creates = {},
    createsFew = creates,
    ...traits
  }: ProbeOptions<E, N>,
  run: (context: ProbeContext<N>) => Promise<E>,
): Probe<E> => ({
  name,
  since,
  needs,
  stage,
  isReadOnly: reads === true || stage === "review",
  creates,
  createsFew,
  per: "target",
  ...traits,
  run,
});

/** Creates a probe that runs once for each tier that the target has a key for. */
export const tierProbe = <E, const N extends Need = never>(
  name: string,
  { needs = [], stage = "limits", since = firstRequirements, ...traits }: TierProbeOptions<E, N>,
  run: (context: TierProbeContext<N>) => Promise<E>,
): Probe<E> => ({
  name,
  since,
  needs,
  stage,
  isReadOnly: false,
  creates: {},
  createsFew: {},
  per: "tier",
  ...traits,
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
  if (planned.per === "tier" && tested !== null && planned.executions !== undefined) return planned.executions(tested);
  if (planned.per === "target" && planned.executions !== undefined)
    return typeof planned.executions === "number" ? planned.executions : planned.executions(target);
  const isOfAgent = planned.needs.some((need) => need.startsWith("agents."));
  return isOfAgent && !planned.isReadOnly ? requestsOf(planned, tested, target) : 0;
}
