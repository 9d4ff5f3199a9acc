import { noisyNeighbour } from "../scenarios/noisy-neighbour.ts";
import { loadTest } from "./lib/load-test.ts";

// `npm run docs` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(noisyNeighbour);

export default run;
