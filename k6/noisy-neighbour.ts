import { noisyNeighbour } from "../scenarios/noisy-neighbour.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(noisyNeighbour, (plan) => ({
  ...all(plan, "alone"),
  ...all(plan, "beside"),
}));

export default run;
