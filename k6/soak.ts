import { soak } from "../scenarios/soak.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(soak);

export default run;
