import { slotsBack } from "../scenarios/slots-back.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(slotsBack, (plan) => all(plan, "after-"));

export default run;
