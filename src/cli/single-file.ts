import { requestedModule } from "../base/spawn-module.ts";
import { collectGarbageOften } from "./runtime.ts";

// Where the one executable file starts, whether a person or the command itself has started it. Each of the imports is code of the same
// file, run when it is asked for.

/** What the command starts in a thread or a process of its own. */
const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  child: () => import("../reference/embedded/process/child.ts"),
  "mutants-worker": () => import("../selftest/mutants/mutants-worker.ts"),
  sender: () => import("../load/engines/autocannon/sender.ts"),
  "trial-worker": () => import("../selftest/trial-worker.ts"),
};

async function start(): Promise<void> {
  const part = requestedModule();
  if (part !== null) {
    await parts[part]?.();
    return;
  }
  collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
  const { runCommandLine } = await import("./command-line.ts");
  await runCommandLine();
}

void start();
