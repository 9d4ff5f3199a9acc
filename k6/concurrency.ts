import { concurrency } from "../scenarios/concurrency.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(concurrency);

export default run;
