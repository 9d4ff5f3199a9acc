import { soak } from "../scenarios/soak.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(soak, (plan) => all(plan));

export default run;
