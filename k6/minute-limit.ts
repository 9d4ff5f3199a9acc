import { minuteLimit } from "../scenarios/minute-limit.ts";
import { each } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(minuteLimit, (plan) =>
  each(plan, "serial", plan.minute),
);

export default run;
