import { recovery } from "../scenarios/recovery.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(recovery, ({ minute }) => ({
  refused: { atLeast: minute.atLeast, atMost: 4 * minute.atMost },
}));

export default run;
