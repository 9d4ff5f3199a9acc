import { parentPort, workerData } from "node:worker_threads";

import { drawMutant } from "./mutant.ts";
import { type MutantRequest, type MutantResult, mutantTester, type WorkerData } from "./trial.ts";

const port = parentPort;
if (port === null) throw new Error("the worker of mutants is started by the selftest only");

const { seed, profile } = workerData as WorkerData;
const tester = mutantTester(profile);

port.on("message", ({ number }: MutantRequest) => {
  tester.tryMutant(drawMutant(seed, number)).then(
    ({ status, changed, said, runs, ms }) =>
      port.postMessage({ number, status, changed, said, runs, ms } satisfies MutantResult),
    // A thrown error is a bug of the harness, not a result of the mutant. It ends the whole selftest.
    (error: unknown) => {
      throw error;
    },
  );
});
