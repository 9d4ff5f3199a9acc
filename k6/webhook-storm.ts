import { webhookStorm } from "../scenarios/webhook-storm.ts";
import { all } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(webhookStorm, (plan) => all(plan));

export default run;
