import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { type Measurement, measurementSchema } from "./measurement.ts";

const workloadProcess = fileURLToPath(new URL("workload-process.ts", import.meta.url));

export async function runWorkload(module: string, input: unknown): Promise<Measurement> {
  const url = new URL(`../workloads/${module}.ts`, import.meta.url).href;
  const child = fork(workloadProcess, [url], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const answer = new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`the workload ${module} ended early (${signal ?? code})`)));
  });
  child.send({ input });
  try {
    return readReply(await answer);
  } finally {
    if (child.connected) child.disconnect();
    await new Promise((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(null),
    );
  }
}

function readReply(answer: unknown): Measurement {
  if (typeof answer === "object" && answer !== null && "failed" in answer) throw new Error(String(answer.failed));
  return measurementSchema.parse(answer);
}
