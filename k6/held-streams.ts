import { heldStreams } from "../scenarios/held-streams.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(heldStreams);

export default run;
