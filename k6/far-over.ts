import { farOver } from "../scenarios/far-over.ts";
import { each } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(farOver, (plan) => ({
  // A limiter that refills bit by bit admits a few more in each second.
  ...each(plan, "flood-", { atLeast: 0, atMost: Math.ceil(plan.limits.perMinute / 60) }),
  "flood-1": plan.minute,
}));

export default run;
