import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import type { Took } from "./took.ts";

const serving = fileURLToPath(new URL("serving.ts", import.meta.url));
const startedSchema = z.object({ url: z.string(), key: z.string(), urls: z.array(z.string()).default([]) });
const usedSchema = z.object({ cpuMs: z.number() });

/** A server in a process of its own. */
export interface Served {
  readonly url: string;
  /** Where one process has several servers, all of them. */
  readonly urls: readonly string[];
  /** A key that it admits; empty where it asks for none. */
  readonly key: string;
  /** Processor time that its process has used so far. */
  readonly cpuMs: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/**
 * Starts a module of `bench/servers`, with what it is told.
 *
 * @throws {Error} where it does not start
 */
export async function startServer(module: string, told: unknown): Promise<Served> {
  const url = new URL(`../servers/${module}.ts`, import.meta.url).href;
  const child = fork(serving, [url], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const started = startedSchema.parse(await ask(child, { told }));
  return {
    ...started,
    cpuMs: async () => usedSchema.parse(await ask(child, { told: null })).cpuMs,
    close: async () => {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

async function ask(child: ChildProcess, question: object): Promise<unknown> {
  const answer = new Promise<unknown>((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`the server of the bench ended (${code})`));
    child.once("exit", fail);
    child.once("message", (message) => {
      child.off("exit", fail);
      resolve(message);
    });
  });
  child.send(question);
  return answer;
}

/** A go whose processor time is the server's. */
export async function withServerTime({ cpuMs }: Served, work: () => Promise<Took>): Promise<Took> {
  const before = await cpuMs();
  const took = await work();
  return { ...took, cpuMs: (await cpuMs()) - before };
}
