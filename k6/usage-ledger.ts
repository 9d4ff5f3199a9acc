import { usageLedger } from "../scenarios/usage-ledger.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(usageLedger, (plan) => all(plan));

export default run;
