import type { Scenario } from "./scenario.ts";
import { flow, invoke } from "./traffic.ts";

/**
 * Uses up the limit per minute three times, and each time retries after `retry_after`. The second time, also
 * retries before `retry_after` has passed, if it is at least 4 seconds.
 */
export const recovery: Scenario = {
  name: "recovery",
  title: "after `retry_after` a request is admitted, and well before it none is",
  sends: "a key used up, then requests before and after `retry_after`",
  claims: ["LIM-12", "LIM-13", "LIM-14", "HDR-15", "HDR-16"],
  tiers: ["free", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: () => [flow("refused", invoke, { kind: "after refusal", rounds: 3 })],
  speed: () => 25,
  seconds: () => 190,
  admitted: ({ minute }) => ({ refused: { min: minute.min, max: 4 * minute.max } }),
};
