import { moduleToRun } from "../base/spawn-module.ts";
import { collectGarbageOften } from "./runtime.ts";

// Entry point of the single executable. In a worker or child process, it runs only one of the modules below.

const modulesByName: Readonly<Record<string, () => Promise<unknown>>> = {
  child: () => import("../reference/embedded/process/child.ts"),
  "judge-worker": () => import("../app/proxy/judge-worker.ts"),
  "mutants-worker": () => import("../selftest/mutants/mutants-worker.ts"),
  sender: () => import("../load/engines/autocannon/sender.ts"),
  "trial-worker": () => import("../selftest/trial-worker.ts"),
  "wire-worker": () => import("../selftest/wire/wire-worker.ts"),
};

async function start(): Promise<void> {
  const name = moduleToRun();
  if (name !== null) {
    await modulesByName[name]?.();
    return;
  }
  collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
  const { runCommandLine } = await import("./command-line.ts");
  await runCommandLine();
}

void start();
