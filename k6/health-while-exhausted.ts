import { healthWhileExhausted } from "../scenarios/health-while-exhausted.ts";
import { all, none } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(healthWhileExhausted, (plan) => ({
  ...all(plan, "health"),
  exhausting: plan.minute,
  "still-exhausted": none,
}));

export default run;
