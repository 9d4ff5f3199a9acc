import { hourLimit } from "../scenarios/hour-limit.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(hourLimit);

export default run;
