import { minuteLimit } from "../scenarios/minute-limit.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(minuteLimit, ({ minute }) => ({ serial: minute }));

export default run;
