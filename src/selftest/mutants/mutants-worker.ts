import { parentPort, workerData } from "node:worker_threads";

import { type MutantsShare, tryMutants } from "./run-mutants.ts";

if (parentPort === null) throw new Error("the worker of mutants is started by the selftest only");
parentPort.postMessage(tryMutants(workerData as MutantsShare));
