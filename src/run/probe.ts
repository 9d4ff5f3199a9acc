import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver } from "../receiver/receiver.ts";
import type { ClientSession, DeliverySender } from "./party-session.ts";
import type { Client } from "./send/client.ts";
import type { OutageMonitor } from "./send/outages.ts";
import type { Recorder } from "./send/recorder.ts";
import type { ResolvedNeeds, Need, TierUnderTest } from "./plan/needs.ts";
import type { Enabler } from "./skip-reason.ts";
import type { RunClock } from "./time/run-clock.ts";
import type { KeyState } from "../spec/dimensions.ts";
import { firstRequirementSet, type RequirementSet } from "../spec/clause.ts";
import type { Target, TargetKey } from "../target/target.ts";

/**
 * The stages of a run, in their usual order; without a test clock, probes of `limits` can run earlier. In `exclusive`,
 * `concurrency` and `limits`, probes of one key run one at a time.
 *
 * - `opening`: the first requests of keys, one probe at a time.
 * - `shared`: probes on the main key that can run concurrently.
 * - `agent time`: probes that wait for slow agents.
 * - `exclusive`: probes that count the requests of a key or let time pass.
 * - `concurrency`: probes that hold concurrency slots of a key.
 * - `limits`: probes that use up the limits of a key, or try invalid keys.
 * - `coverage`: requests for cases that no other probe has covered.
 * - `next month`: probes that advance the test clock past the end of the month, after all other requests.
 * - `review`: probes that send nothing, and read the recorded exchanges.
 */
export const stages = [
  "opening",
  "shared",
  "agent time",
  "exclusive",
  "concurrency",
  "limits",
  "coverage",
  "next month",
  "review",
] as const;
export type Stage = (typeof stages)[number];

/** Default deadline of a probe in real time, not counting its waits. A slower probe counts as skipped. */
export const probeDeadlineMs = 180_000;

export interface ProbeContext<N extends Need = never> {
  readonly given: ResolvedNeeds<N>;
  readonly client: Client;
  readonly time: RunClock;
  readonly target: Target;
  readonly recorder: Recorder;
  readonly outages: OutageMonitor;
  /** The first exchanges of the run. Probes use these exchanges as evidence instead of repeating the requests. */
  readonly discovery: Discovery;
  /** Opens the webhook receiver. Probes that list `receiver` in `needs` use `given.receiver` instead. */
  readonly receiver: () => Promise<Receiver>;
  readonly readOnly: boolean;
  readonly coverageSeed: number;
  readonly limitTests: () => readonly LimitTest[];
}

/** The result of a probe that uses up a limit. `needs`: what would enable a skipped probe, e.g. a test clock. */
export interface LimitTest {
  readonly state: KeyState;
  readonly tier: string | null;
  readonly result: { readonly kind: "ran" | "broken" } | { readonly kind: "skipped"; readonly needs: Enabler | null };
}

/** The first exchanges of a run, which show whether the target serves this interface. */
export interface Discovery {
  /** `GET /agents?page=1&limit=2` with the main key. */
  readonly listing: Exchange;
  /** `GET /usage` with the main key. */
  readonly usage: Exchange;
  /**
   * Two more GET requests to the agent list if the target has no `/usage`, or to `/usage` if it has no agent list. They
   * show whether rate limits count GET requests.
   */
  readonly again?: readonly Exchange[];
  /** Exchanges of the health requests to the agent that the user named, or else to up to five listed agents. */
  readonly health: readonly Exchange[];
  /** Discovery's last invoke, to the agent that it then chose; `null` if discovery sent no invoke. */
  readonly invoked: Exchange | null;
}

export interface TierProbeContext<N extends Need = never> extends ProbeContext<N> {
  readonly tested: TierUnderTest;
}

/** Numbers of objects that a probe creates, and that stay on the target: the interface cannot delete them. */
export interface CreatedObjects {
  readonly webhooks?: number;
  readonly alerts?: number;
  readonly operations?: number;
}

/**
 * A probe's wait if the target has no test clock. `plan` simulates the wait; in a run, the probe itself waits.
 *
 * - `required`: waits `seconds`.
 * - `since the start`: waits until `seconds` after the start of the run.
 * - `optional`: waits `seconds` if the run has that much waiting time left.
 * - `reserved`: uses up no waiting time, but is skipped if less than `seconds` of waiting time are left.
 * - `until exhausted`: waits until `seconds` after the end of the probe `after`, or until no waiting time is left.
 */
export type WaitOptions = {
  readonly seconds: number | ((target: Target) => number);
} & (
  | { readonly mode: "required" | "since the start" | "optional" | "reserved" }
  | { readonly mode: "until exhausted"; readonly after: string }
);

interface ProbeTraits {
  /** Approximate number of requests that use up limits of the first key in `keys`, or else of the main key. */
  readonly requests: number | ((target: Target) => number);
  /** Number of agent executions. Default: `requests` if the probe needs an agent and is not read-only, otherwise 0. */
  readonly executions?: number | ((target: Target) => number);
  /** Waiting time that the probe needs, in addition to waits for the rate limit of its key. Default: none. */
  readonly waits?: WaitOptions;
  /** Keys to use instead of the main key. A key that the probe needs, such as `keys.second`, is used in addition. */
  readonly keys?: (target: Target) => readonly TargetKey[];
  /** The limit that the probe uses up, e.g. `minute used up`. The probe then records how all endpoints respond. */
  readonly usesUp?: KeyState;
  /** Whether the probe can also run with fewer requests than planned. */
  readonly mayDropRequests?: true;
  /**
   * Whether the probe's evidence also covers requests of earlier probes. Such a probe runs even if `maxRequests` is
   * reached.
   */
  readonly countsRequests?: true;
  /**
   * Whether the probe sends GET requests that may count toward a rate limit. If the main key has a low limit, the probe
   * runs before the limit tests.
   */
  readonly countsTowardWindow?: true;
  /** Whether checks also judge events after the end of the probe, such as retries of a delivery. */
  readonly isJudgedLater?: true;
}

interface TierProbeTraits {
  readonly requests: (tested: TierUnderTest, target: Target) => number;
  readonly waitSeconds: (tested: TierUnderTest) => number;
  /** Additional seconds to wait for a second measurement, if the run has that much waiting time left. Default: 0. */
  readonly optionalWaitSeconds?: number;
  readonly usesUp?: KeyState;
  readonly window?: (tested: TierUnderTest) => number;
  /** Approximate number of agent executions. Default: `requests` if the probe needs an agent, otherwise 0. */
  readonly executions?: (tested: TierUnderTest, target: Target) => number;
  /** Whether the probe can run for several tiers concurrently, with one shared test clock. */
  readonly concurrent?: true;
}

interface SharedOptions<E, N extends Need> {
  readonly needs?: readonly N[];
  /** Requirement set that added the probe; default 1.0. Checks of older sets ignore the probe's requests. */
  readonly since?: RequirementSet;
  /**
   * Returns the evidence for a check of the given requirement set. Leaves out requests of probes that later requirement
   * sets added.
   */
  readonly narrow?: (evidence: E, requirements: RequirementSet) => E;
}

interface ProbeOptions<E, N extends Need> extends ProbeTraits, SharedOptions<E, N> {
  readonly stage?: Stage;
  /** Whether the probe also runs in read-only mode, in which it must send only GET requests. */
  readonly reads?: true;
  /** Probes of the same stage that prepare the target for this probe, and so must run earlier. */
  readonly after?: readonly Probe[];
  readonly creates?: CreatedObjects;
  /** The objects that the probe creates if `hasFewRequests(target)`. Default: the same as `creates`. */
  readonly createsFew?: CreatedObjects;
}

interface TierProbeOptions<E, N extends Need> extends TierProbeTraits, SharedOptions<E, N> {
  readonly stage?: "exclusive" | "concurrency" | "limits";
}

interface ProbeBase {
  /** A unique name that users see, such as "an agent is invoked". */
  readonly name: string;
  readonly needs: readonly Need[];
  readonly stage: Stage;
  readonly isReadOnly: boolean;
  readonly creates: CreatedObjects;
  readonly createsFew: CreatedObjects;
  readonly after?: readonly Probe[];
  readonly since: RequirementSet;
  readonly narrow?: (evidence: never, requirements: RequirementSet) => unknown;
  /** Sends deliveries to a webhook receiver. Only probes that judge a receiver have this function. */
  readonly deliver?: (sender: DeliverySender) => Promise<unknown>;
  /** Runs the command of a client. Only probes that judge a client have this function. */
  readonly observe?: (session: ClientSession) => Promise<unknown>;
}

/** A probe sends requests to a target for one purpose, and returns evidence as plain JSON. */
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
    since = firstRequirementSet,
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
  { needs = [], stage = "limits", since = firstRequirementSet, ...traits }: TierProbeOptions<E, N>,
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

export const deliveryProbe = <E>(name: string, deliver: (sender: DeliverySender) => Promise<E>): Probe<E> => ({
  ...probe<E>(name, { requests: 0, stage: "opening", since: "1.2" }, () =>
    Promise.reject(new Error(`the probe "${name}" judges a receiver, not a server`)),
  ),
  deliver,
});

/**
 * Creates a probe that runs the command of the client under test. Such probes run one at a time, in the order of the
 * plan.
 */
export const clientProbe = <E>(name: string, observe: (session: ClientSession) => Promise<E>): Probe<E> => ({
  ...probe<E>(name, { requests: 0, stage: "opening", since: "1.2" }, () =>
    Promise.reject(new Error(`the probe "${name}" judges a client, not a server`)),
  ),
  observe,
});

export function requestsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "target")
    return typeof planned.requests === "number" ? planned.requests : planned.requests(target);
  if (tested === null) throw new Error(`the probe "${planned.name}" was planned without a tier`);
  return planned.requests(tested, target);
}

/** Returns the approximate number of agent executions that a probe causes, including failed executions. */
export function executionsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "tier" && tested !== null && planned.executions !== undefined)
    return planned.executions(tested, target);
  if (planned.per === "target" && planned.executions !== undefined)
    return typeof planned.executions === "number" ? planned.executions : planned.executions(target);
  const isOfAgent = planned.needs.some((need) => need.startsWith("agents."));
  return isOfAgent && !planned.isReadOnly ? requestsOf(planned, tested, target) : 0;
}
