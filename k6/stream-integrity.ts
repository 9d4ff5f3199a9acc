import { streamIntegrity } from "../scenarios/stream-integrity.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(streamIntegrity, (plan) => all(plan));

export default run;
