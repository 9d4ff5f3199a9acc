import { loadTest } from "../../k6/lib/load-test.ts";
import { soak } from "../../scenarios/soak.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";

/** As our scripts send: each request read, looked at and recorded. The minute's limit says how many there are. */
const scenario = {
  ...soak,
  flows: ({ concurrent, perMinute }: { readonly concurrent: number; readonly perMinute: number }) => [
    flow("even", invoke, { kind: "shared", atOnce: concurrent, requests: perMinute }),
  ],
};

export const { options, setup, run, handleSummary } = loadTest(scenario, () => ({}));

export default run;
