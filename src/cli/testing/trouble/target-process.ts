import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { getPath } from "../../../base/json.ts";

/** The reference server in a separate process, which a trial can kill, stop and restart. */
export interface TargetProcess {
  /** The server's port on loopback. A restart does not change it. */
  readonly port: number;
  /** Sends a signal to the server process, if it is running. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Starts the server again after it was killed, with the same port, keys and webhooks. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const commandModule = new URL("../../main.ts", import.meta.url).pathname;
const controlToken = "control-token-of-the-trial";

/**
 * Starts the reference server with a virtual clock.
 *
 * @param folder folder for the target file `target.json` and the server's data
 * @param fault name of a fault; `null` for a correct server
 */
export async function startTarget(folder: string, fault: string | null): Promise<TargetProcess> {
  const flags = ["--virtual-clock", "--clock-token", controlToken, "--data", join(folder, "data")];
  if (fault !== null) flags.push("--fault", fault);
  const start = (port: number): Promise<ChildProcess> =>
    startServer(["--port", String(port), "--write-target", targetFileIn(folder), ...flags]);
  let child = await start(0);
  const port = Number(new URL(String(getPath(readTarget(folder), "baseUrl"))).port);
  const end = async (): Promise<void> => {
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    // SIGKILL ends even a process that SIGSTOP has stopped.
    child.kill("SIGKILL");
    await ended;
  };
  return {
    port,
    signal: (name) => void child.kill(name),
    restart: async () => {
      await end();
      child = await startAgain(() => start(port));
    },
    close: end,
  };
}

/** Starts the server again on the same port. Tries several times, because another process may briefly use the port. */
async function startAgain(start: () => Promise<ChildProcess>, attemptsLeft = 10): Promise<ChildProcess> {
  try {
    return await start();
  } catch (error) {
    if (attemptsLeft === 0 || !String(error).includes("is taken")) throw error;
    await sleep(500);
    return startAgain(start, attemptsLeft - 1);
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Starts `conformance serve` and waits until it prints its banner. */
async function startServer(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [commandModule, "serve", "--quiet", ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors += piece.toString()));
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`The reference server ended with code ${code}: ${errors.slice(-500)}`);
  });
  failed.catch(() => {});
  await Promise.race([once(child.stdout, "data"), failed]);
  child.stdout.resume();
  return child;
}

const targetFileIn = (folder: string): string => join(folder, "target.json");
const readTarget = (folder: string): unknown => JSON.parse(readFileSync(targetFileIn(folder), "utf8"));

/** Finds the keys in the text of a target file. */
export const keysIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/"key": "([^"]+)"/g), ([, key = ""]) => key);

/**
 * Writes the target file of a trial, with the address of the proxy and only a few keys: with keys of large tiers, a run would send
 * thousands of requests.
 *
 * @param ports ports of the server, of the proxies in front of it, and of the webhook receiver
 * @returns the path
 */
export function writeTrialTarget(
  folder: string,
  ports: { readonly server: number; readonly front: number; readonly receiver: number },
  fileName: string,
): string {
  const text = readFileSync(targetFileIn(folder), "utf8")
    .replaceAll(`127.0.0.1:${ports.server}`, `127.0.0.1:${ports.front}`)
    .replace('"listen": "127.0.0.1:0"', `"listen": "127.0.0.1:${ports.receiver}"`);
  const target = JSON.parse(text) as { readonly keys: Readonly<Record<string, unknown>> };
  const keys = Object.fromEntries(Object.entries(target.keys).filter(([name]) => !largeKeys.has(name)));
  const path = join(folder, fileName);
  writeFileSync(path, JSON.stringify({ ...target, keys }, null, 2));
  return path;
}

const largeKeys: ReadonlySet<string> = new Set(["team", "enterprise"]);
