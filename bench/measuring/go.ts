import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { type Took, tookSchema } from "./took.ts";

const going = fileURLToPath(new URL("going.ts", import.meta.url));

/**
 * One go in a process of its own, so that no go finds what another has left in memory. The module's `go` prepares, does the work and says what
 * that took, without the start of the process.
 *
 * @param module of `bench/goes`
 * @throws {Error} where it fails, with its own words
 */
export async function goApart(module: string, input: unknown): Promise<Took> {
  const url = new URL(`../goes/${module}.ts`, import.meta.url).href;
  const child = fork(going, [url], { execArgv: ["--expose-gc"], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const answer = new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`the go ${module} ended early (${signal ?? code})`)));
  });
  child.send({ input });
  try {
    return readAnswer(await answer);
  } finally {
    if (child.connected) child.disconnect();
    await new Promise((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(null),
    );
  }
}

function readAnswer(answer: unknown): Took {
  if (typeof answer === "object" && answer !== null && "failed" in answer) throw new Error(String(answer.failed));
  return tookSchema.parse(answer);
}
