import type { Scenario } from "k6/options";

import type { Flow, TrafficShape } from "../../scenarios/scenario.ts";

/** Maximum number of burst requests per virtual user. A user with more requests would start the last ones too late. */
const REQUESTS_PER_USER = 20;
/** How long k6 waits for the last responses after a flow's duration has passed. */
const GRACE = "60s";
/** Maximum duration of a flow whose shape has no `seconds`. Real flows are much shorter. */
const MAX_DURATION = "2h";

/** Returns the name of a flow's k6 scenario. k6 allows only letters, digits, `-` and `_` in the name. */
export const k6NameOf = (flow: Flow): string => flow.name.replaceAll(/[^A-Za-z0-9_-]/g, "-");

export function executorsOf(flows: readonly Flow[]): Record<string, Scenario> {
  return Object.fromEntries(flows.map((flow) => [k6NameOf(flow), executorOf(flow)]));
}

function executorOf(flow: Flow): Scenario {
  const common = { startTime: `${Math.round(flow.afterSeconds * 1000)}ms`, gracefulStop: GRACE };
  const perUser = (vus: number, iterations: number): Scenario => ({
    ...common,
    executor: "per-vu-iterations",
    vus,
    iterations,
    maxDuration: MAX_DURATION,
  });
  const { shape } = flow;
  switch (shape.kind) {
    case "at once":
      return perUser(burstUsers(shape.requests), 1);
    case "in turn":
      return perUser(1, shape.requests);
    case "after refusal":
      return perUser(1, 1);
    case "shared":
      return {
        ...common,
        executor: "shared-iterations",
        vus: Math.min(shape.atOnce, shape.requests),
        iterations: shape.requests,
        maxDuration: MAX_DURATION,
      };
    case "closed":
      return { ...common, executor: "constant-vus", vus: shape.atOnce, duration: formatDuration(shape.seconds) };
    case "paced":
      return { ...common, ...constantRate(shape) };
  }
}

/** Returns the number of virtual users for a burst: at least 4, if possible, so that k6 processes can share it. */
export const burstUsers = (requests: number): number =>
  Math.min(requests, Math.max(4, Math.ceil(requests / REQUESTS_PER_USER)));

export function burstShareOf(requests: number, user: number): number {
  const count = burstUsers(requests);
  return Math.floor(requests / count) + (user < requests % count ? 1 : 0);
}

function constantRate({ perSecond, seconds }: Extract<TrafficShape, { kind: "paced" }>) {
  const isWhole = Number.isInteger(perSecond);
  return {
    executor: "constant-arrival-rate" as const,
    rate: isWhole ? perSecond : Math.round(perSecond * 60),
    timeUnit: isWhole ? "1s" : "60s",
    duration: formatDuration(seconds),
    preAllocatedVUs: usersFor(perSecond),
  };
}

/** Formats a duration for k6. Lengthens a shorter duration to a second, because k6 refuses less. */
const formatDuration = (seconds: number): string => `${Math.max(1000, Math.round(seconds * 1000))}ms`;

/** Returns how many virtual users keep a rate if a response takes two seconds, but at least 10 and at most 2,000. */
const usersFor = (perSecond: number): number => Math.min(2000, Math.max(10, Math.ceil(perSecond * 2)));
