import { heldStreams } from "../scenarios/held-streams.ts";
import { all, none } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(heldStreams, (plan) => ({
  ...all(plan, "streams"),
  early: none,
  late: none,
  ...all(plan, "afterwards"),
}));

export default run;
