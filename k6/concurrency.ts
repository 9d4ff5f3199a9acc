import { concurrency } from "../scenarios/concurrency.ts";
import { exactly } from "./engine/expected.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(concurrency, ({ limits }) => ({
  "too-many": exactly(limits.concurrent),
  "as-many": exactly(limits.concurrent),
}));

export default run;
