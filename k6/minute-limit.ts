import { minuteLimit } from "../scenarios/minute-limit.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(minuteLimit);

export default run;
