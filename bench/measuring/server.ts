import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import type { Measurement } from "./measurement.ts";

const serverProcess = fileURLToPath(new URL("server-process.ts", import.meta.url));
const startedSchema = z.object({ url: z.string(), key: z.string(), urls: z.array(z.string()).default([]) });
const usedSchema = z.object({ cpuMs: z.number() });

export interface BenchServer {
  readonly url: string;
  /** The URLs of all servers, if the process runs several servers; otherwise empty. */
  readonly urls: readonly string[];
  /** A valid API key; empty if the server requires no key. */
  readonly key: string;
  readonly cpuMs: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function startServer(module: string, options: unknown): Promise<BenchServer> {
  const url = new URL(`../servers/${module}.ts`, import.meta.url).href;
  const child = fork(serverProcess, [url], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const started = startedSchema.parse(await sendRequest(child, { options }));
  return {
    ...started,
    cpuMs: async () => usedSchema.parse(await sendRequest(child, { options: null })).cpuMs,
    close: async () => {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

async function sendRequest(child: ChildProcess, request: object): Promise<unknown> {
  const answer = new Promise<unknown>((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`the server of the bench ended (${code})`));
    child.once("exit", fail);
    child.once("message", (message) => {
      child.off("exit", fail);
      resolve(message);
    });
  });
  child.send(request);
  return answer;
}

/** Runs `work` and returns its measurement, but with the CPU time of the server process instead of the client's. */
export async function withServerTime({ cpuMs }: BenchServer, work: () => Promise<Measurement>): Promise<Measurement> {
  const before = await cpuMs();
  const took = await work();
  return { ...took, cpuMs: (await cpuMs()) - before };
}
