import { hourLimit } from "../scenarios/hour-limit.ts";
import { each } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(hourLimit, (plan) => ({
  // Where an hour ends is not known here: `conformance load` judges the hour's own number.
  ...each(plan, "", { atLeast: 0, atMost: plan.minute.atMost }),
  "later-1": { atLeast: 1, atMost: plan.minute.atMost },
}));

export default run;
