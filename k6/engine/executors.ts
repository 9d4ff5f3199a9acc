import type { Scenario } from "k6/options";

import { type Flow, k6NameOf, type Shape } from "./flows.ts";

/** So many virtual users send the requests of one burst: each of them has 20 or fewer on the way, so that all leave within a few ms. */
const PER_BURSTER = 20;
/** A request that is still on the way at the end of a closed or paced flow has this long to be answered. */
const GRACE = "60s";
/** Long enough for any flow with a counted number of requests. */
const AT_MOST = "2h";

/** The k6 scenarios of these flows, by name. */
export function executorsOf(flows: readonly Flow[]): Record<string, Scenario> {
  return Object.fromEntries(flows.map((flow) => [k6NameOf(flow), executorOf(flow)]));
}

function executorOf(flow: Flow): Scenario {
  const common = { startTime: `${Math.round(flow.afterSeconds * 1000)}ms`, gracefulStop: GRACE };
  const counted = (vus: number, iterations: number): Scenario => ({
    ...common,
    executor: "per-vu-iterations",
    vus,
    iterations,
    maxDuration: AT_MOST,
  });
  const { shape } = flow;
  switch (shape.kind) {
    case "at once":
      return counted(bursters(shape.requests), 1);
    case "in turn":
      return counted(1, shape.requests);
    case "after refusal":
      return counted(1, 1);
    case "shared":
      return {
        ...common,
        executor: "shared-iterations",
        vus: Math.min(shape.atOnce, shape.requests),
        iterations: shape.requests,
        maxDuration: AT_MOST,
      };
    case "closed":
      return { ...common, executor: "constant-vus", vus: shape.atOnce, duration: durationOf(shape.seconds) };
    case "paced":
      return { ...common, ...pacedExecutor(shape) };
  }
}

/** How many virtual users share a burst. More than one even for a small burst, so that several processes can share it. */
export const bursters = (requests: number): number =>
  Math.min(requests, Math.max(4, Math.ceil(requests / PER_BURSTER)));

/** How many requests of a burst the virtual user with this number (from 0) sends. The shares add up to the burst. */
export function shareOf(requests: number, burster: number): number {
  const count = bursters(requests);
  return Math.floor(requests / count) + (burster < requests % count ? 1 : 0);
}

function pacedExecutor({ perSecond, seconds }: Extract<Shape, { kind: "paced" }>) {
  const isWhole = Number.isInteger(perSecond);
  return {
    executor: "constant-arrival-rate" as const,
    rate: isWhole ? perSecond : Math.round(perSecond * 60),
    timeUnit: isWhole ? "1s" : "60s",
    duration: durationOf(seconds),
    preAllocatedVUs: usersFor(perSecond),
  };
}

/** k6 takes no flow with a clock that is shorter than a second. */
const durationOf = (seconds: number): string => `${Math.max(1000, Math.round(seconds * 1000))}ms`;

/** Enough for answers that take two seconds: where more would be needed, k6 drops iterations and the run is invalid. */
const usersFor = (perSecond: number): number => Math.min(2000, Math.max(10, Math.ceil(perSecond * 2)));
