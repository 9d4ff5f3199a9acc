import { loadTest } from "../../k6/lib/load-test.ts";
import { soak } from "../../scenarios/soak.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";

/** The load scenario of the benchmark `load-k6`. Its baseline, the script `bare.ts`, sends the same requests. */
const scenario = {
  ...soak,
  admitted: () => ({}),
  flows: ({ concurrent, perMinute }: { readonly concurrent: number; readonly perMinute: number }) => [
    flow("even", invoke, { kind: "shared", atOnce: concurrent, requests: perMinute }),
  ],
};

export const { options, setup, run, handleSummary } = loadTest(scenario);

export default run;
