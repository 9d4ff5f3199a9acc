import { moduleToRun } from "../base/spawn-module.ts";
import { collectGarbageOften } from "./runtime.ts";

// Entry point of the single executable file. The command also starts it again for its threads and child processes. All imports are part of the
// same file.

/** Modules that run in a thread or process of their own. */
const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  child: () => import("../reference/embedded/process/child.ts"),
  "mutants-worker": () => import("../selftest/mutants/mutants-worker.ts"),
  sender: () => import("../load/engines/autocannon/sender.ts"),
  "trial-worker": () => import("../selftest/trial-worker.ts"),
  "wire-worker": () => import("../selftest/wire/wire-worker.ts"),
};

async function start(): Promise<void> {
  const part = moduleToRun();
  if (part !== null) {
    await parts[part]?.();
    return;
  }
  collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
  const { runCommandLine } = await import("./command-line.ts");
  await runCommandLine();
}

void start();
