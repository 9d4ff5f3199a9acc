import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

/** A separate process that runs `conformance serve`. The values are read from the first lines of its output. */
export interface ServeProcess {
  readonly baseUrl: string;
  readonly key: string;
  readonly stop: () => Promise<void>;
}

/** Starts the process on a free port. Rejects if the process ends before it serves. */
export async function startServe(): Promise<ServeProcess> {
  const child = spawn(process.execPath, [command, "serve", "--port", "0", "--quiet"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const baseUrl = /^base URL +(\S+)$/m.exec(lines.join("\n"))?.[1];
    const key = /^ +enterprise +enterprise +(\S+)$/.exec(line)?.[1];
    if (baseUrl !== undefined && key !== undefined) return { baseUrl, key, stop };
  }
  throw new Error(`conformance serve ended without a base URL and a key: ${lines.join("\n")}`);
}
