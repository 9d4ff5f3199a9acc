import { loadTest } from "../../k6/lib/load-test.ts";
import { soak } from "../../scenarios/soak.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";

/** A load scenario for the k6 script of the harness, with the same load as the baseline `bare.ts`. */
const scenario = {
  ...soak,
  admitted: () => ({}),
  flows: ({ concurrent, perMinute }: { readonly concurrent: number; readonly perMinute: number }) => [
    flow("even", invoke, { kind: "shared", atOnce: concurrent, requests: perMinute }),
  ],
};

export const { options, setup, run, handleSummary } = loadTest(scenario);

export default run;
