import { sustained } from "../scenarios/sustained.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(sustained, (plan) => all(plan));

export default run;
