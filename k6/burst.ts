import { burst } from "../scenarios/burst.ts";
import { loadTest } from "./engine/load-test.ts";

export const { options, setup, run, handleSummary } = loadTest(burst, ({ limits, minute }) => ({
  burst: { atLeast: limits.burst ?? minute.atLeast, atMost: minute.atMost },
  stampede: { atLeast: 1, atMost: minute.atMost },
}));

export default run;
