import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import type { Target } from "../../target/target.ts";
import { aKey, aTarget } from "./values.ts";

/** A running `form_b_server.py`, by another author, with the second form of error bodies, as a target. */
export interface FormBServer {
  readonly target: Target;
  readonly close: () => void;
}

const script = new URL("form_b_server.py", import.meta.url).pathname;
const keys = {
  main: { key: "pk_parrot-7f3a91c25d", tier: "pro" },
  second: { key: "pk_second-19ce40b7aa", tier: "pro" },
} as const;
const expiredKey = "pk_withered-55d0e1f2";

/** Starts the server on a free loopback port. Rejects with a sentence if Python 3 is not installed. */
export async function startFormBServer(defect: string | null): Promise<FormBServer> {
  const child = spawn(
    "python3",
    [
      script,
      ...Object.values(keys).flatMap(({ key, tier }) => ["--key", `${key}=${tier}`]),
      "--expired",
      expiredKey,
      ...(defect === null ? [] : ["--broken", defect]),
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  return { target: targetAt(await portOf(child)), close: () => child.stdin.end() };
}

async function portOf(child: ChildProcessByStdio<Writable, Readable, null>): Promise<number> {
  const failed = once(child, "error").then(([error]: unknown[]) => {
    throw new Error(
      `python3 is needed for this test and cannot be started: ${String(error)}. Install Python 3.10 or newer.`,
    );
  });
  const ended = once(child, "exit").then(() => {
    throw new Error("form_b_server.py ended before it listened: Python 3.10 or newer is needed.");
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), failed, ended])) as [string];
  ended.catch(() => {});
  failed.catch(() => {});
  return (JSON.parse(line) as { port: number }).port;
}

const targetAt = (port: number): Target =>
  aTarget(`http://127.0.0.1:${port}/v1`, {
    name: "form B",
    keys: {
      main: aKey({ ...keys.main, name: "main", fresh: true }),
      second: aKey({ ...keys.second, name: "second", fresh: true }),
      old: aKey({ name: "old", key: expiredKey, fresh: true, expired: true }),
    },
    agents: { answering: "parrot", streaming: "parrot", slow: "tortoise", slowStreaming: "tortoise" },
    agentSource: "named",
  });
