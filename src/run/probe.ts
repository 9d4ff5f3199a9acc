import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver } from "../receiver/receiver.ts";
import type { Client } from "./send/client.ts";
import type { Recorder } from "./send/recorder.ts";
import type { ResolvedNeeds, Need, TierUnderTest } from "./plan/needs.ts";
import type { RunClock } from "./time/run-clock.ts";
import type { Target, TargetKey } from "../target/target.ts";

/**
 * When a probe runs.
 *
 * - `shared`: side by side with others, on the main key.
 * - `timed`: after those, because an agent takes its time for it, so that a clock has to be moved where it lives by that.
 * - `alone`: after those, one at a time for each key, because it counts an allowance or lets time pass.
 * - `slots`: after those, one at a time for each key, because it holds slots; the keys side by side where agents live in real time.
 * - `limits`: last, one at a time for each key, because it uses a key up, or tries keys that are not good on all that the run has made.
 * - `visits`: after those, to see what nothing has seen yet.
 * - `afterwards`: once everything was sent; looks at what was recorded and sends nothing.
 */
export type Stage = "shared" | "timed" | "alone" | "slots" | "limits" | "visits" | "afterwards";

/** What a probe works with. */
export interface ProbeContext<N extends Need = never> {
  readonly given: ResolvedNeeds<N>;
  /** Sends with the run's main key. */
  readonly client: Client;
  readonly time: RunClock;
  readonly target: Target;
  readonly recorder: Recorder;
  /** What the look before the run has already asked for, so that no probe asks again. */
  readonly discovery: Discovery;
  /** Opens the receiver where the target has one: for probes that can do without. */
  readonly receiver: () => Promise<Receiver>;
  /** Nothing but GET may be sent. */
  readonly readOnly: boolean;
}

/** The first requests of every run: they tell whether there is something to judge. */
export interface Discovery {
  /** `GET /agents?page=1&limit=2` with the main key. */
  readonly listing: Exchange;
  /** `GET /usage` with the main key. */
  readonly usage: Exchange;
  /** Health of the agents that were considered, with no cost to the allowance. */
  readonly health: readonly Exchange[];
  /** A first invoke of the agent that was found through the list; `null` where an agent was named, or none was found. */
  readonly invoked: Exchange | null;
}

export interface TierProbeContext<N extends Need = never> extends ProbeContext<N> {
  readonly tested: TierUnderTest;
}

/** What a probe leaves on the target for ever: the interface has no operation that deletes. */
export interface Creations {
  readonly webhooks?: number;
  readonly alerts?: number;
  readonly operations?: number;
}

/**
 * Real time that a probe lets pass by itself, besides what the limits of its key hold it back, where no clock is moved.
 *
 * - `paid`: it takes so much of the waiting that the run may do, and is skipped where less is left.
 * - `since the start`: the same, until so much of the run has passed.
 * - `if left`: it takes so much where that is left, and runs without it otherwise.
 * - `as far as left`: it takes what is left, until so much has passed since the probe of that name was over; nothing where that did not run.
 * - `in reserve`: the target itself takes up to so much to answer; so much has to be left, and is not taken.
 */
export type Waits = {
  /** Longest, in seconds; a function where the target file says how long. */
  readonly seconds: number | ((target: Target) => number);
} & (
  | { readonly how: "paid" | "since the start" | "if left" | "in reserve" }
  | { readonly how: "as far as left"; readonly after: string }
);

interface ProbeOptions<N extends Need> {
  readonly needs?: readonly N[];
  /** It sends nothing but GET: it may run where a target is only to be read. */
  readonly reads?: true;
  readonly creates?: Creations;
  /** The same with a key of few requests, where it creates less then. */
  readonly createsFew?: Creations;
  /** Requests that count against the main key; a function where they depend on how many that key has. */
  readonly requests: number | ((target: Target) => number);
  /** How often it has an agent run. Default: with each of its requests where it needs an agent, else never. */
  readonly executions?: number;
  readonly waits?: Waits;
  readonly lane?: Stage;
  /** Keys that it sends with instead of the main key, besides those that it needs. */
  readonly keys?: (target: Target) => readonly TargetKey[];
  /** It does without those of its requests for which too little waiting is left. */
  readonly mayDropRequests?: true;
  /** It reads what is there, so that its request is admitted: where requests are few, it comes before the limits, which use up what it leaves. */
  readonly countsTowardWindow?: true;
}

interface TierProbeOptions<N extends Need> {
  readonly needs?: readonly N[];
  readonly lane?: "alone" | "slots" | "limits";
  readonly requests: (tested: TierUnderTest) => number;
  /** Longest time that the probe must let pass, in seconds, on the target's clock. */
  readonly waitSeconds: (tested: TierUnderTest) => number;
  /** What it makes use of besides, in seconds, where something has to be looked at twice: kept for it, and done without. Default 0. */
  readonly optionalWaitSeconds?: number;
  /** The requests of the window that it uses up. */
  readonly window?: (tested: TierUnderTest) => number;
  /** How often it has an agent run, about. Default: with each of its requests. */
  readonly executions?: (tested: TierUnderTest) => number;
  /** Nothing of it depends on how much real time its waits take: on a clock that is moved, several tiers may have it at once. */
  readonly abreast?: true;
}

interface ProbeBase {
  /** Unique, and said to people: "an agent is invoked". */
  readonly name: string;
  readonly needs: readonly Need[];
  readonly lane: Stage;
  readonly isReadOnly: boolean;
  /** The most that it leaves on the target. */
  readonly creates: Creations;
  /** The most with a key of few requests. */
  readonly createsFew: Creations;
}

/** Does something to a target once, and returns evidence: plain JSON. */
export type Probe<E = unknown> = ProbeBase &
  (
    | {
        readonly per: "target";
        readonly requests: number | ((target: Target) => number);
        readonly executions: number | null;
        /** `null` where only the limits of its key may hold it back. */
        readonly waits: Waits | null;
        /** Keys that it sends with instead of the main key; `null` where it sends with that. */
        readonly keys: ((target: Target) => readonly TargetKey[]) | null;
        /** Whether it runs on where too little waiting is left for its requests. */
        readonly doesWithout: boolean;
        /** Whether its one request helps to use up a window. */
        readonly fills: boolean;
        readonly run: (scene: ProbeContext<Need>) => Promise<E>;
      }
    | {
        readonly per: "tier";
        readonly requests: (tested: TierUnderTest) => number;
        readonly waitSeconds: (tested: TierUnderTest) => number;
        readonly spareSeconds: number;
        /** `null` where it uses up none. */
        readonly window: ((tested: TierUnderTest) => number) | null;
        readonly executions: ((tested: TierUnderTest) => number) | null;
        /** Whether several tiers may have it at once where they share a clock that is moved. */
        readonly isAbreast: boolean;
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
    lane = "shared",
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
  lane,
  isReadOnly: reads === true || lane === "afterwards",
  creates,
  createsFew,
  per: "target",
  requests,
  executions: executions ?? null,
  waits: waits ?? null,
  keys: keys ?? null,
  doesWithout: mayDropRequests === true,
  fills: countsTowardWindow === true,
  run,
});

/** A probe that runs once for each tier of which the target has a key. */
export const tierProbe = <E, const N extends Need = never>(
  name: string,
  {
    needs = [],
    lane = "limits",
    requests,
    executions,
    waitSeconds,
    optionalWaitSeconds = 0,
    window,
    abreast,
  }: TierProbeOptions<N>,
  run: (scene: TierProbeContext<N>) => Promise<E>,
): Probe<E> => ({
  name,
  needs,
  lane,
  isReadOnly: false,
  creates: {},
  createsFew: {},
  per: "tier",
  requests,
  waitSeconds,
  spareSeconds: optionalWaitSeconds,
  executions: executions ?? null,
  window: window ?? null,
  isAbreast: abreast === true,
  run,
});

/** Requests that count against the key of a planned probe. */
export function requestsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "target")
    return typeof planned.requests === "number" ? planned.requests : planned.requests(target);
  if (tested === null) throw new Error(`the probe "${planned.name}" was planned without a tier`);
  return planned.requests(tested);
}

/** How often a planned probe has an agent run, about: failures count, what is refused does not. */
export function executionsOf(planned: Probe, tested: TierUnderTest | null, target: Target): number {
  if (planned.per === "tier" && tested !== null && planned.executions !== null) return planned.executions(tested);
  if (planned.per === "target" && planned.executions !== null) return planned.executions;
  const isOfAgent = planned.needs.some((need) => need.startsWith("agents."));
  return isOfAgent && !planned.isReadOnly ? requestsOf(planned, tested, target) : 0;
}
