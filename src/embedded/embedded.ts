import { Worker } from "node:worker_threads";

import type { Patch } from "../reference/patch.ts";
import { startReference, virtualClock } from "../reference/reference.ts";
import type { Target } from "../target/target.ts";
import { factsOf, type ServerFacts, targetOf } from "./facts.ts";

/** The embedded reference server, on a virtual clock, and how a run sees it: as a target like any other. */
export interface Embedded {
  readonly target: Target;
  readonly close: () => Promise<void>;
}

/** Starts the reference server in this thread, with faults and variants applied. */
export async function startEmbedded(patches: readonly Patch[] = []): Promise<Embedded> {
  const reference = await startReference({ clock: virtualClock(), patches });
  return {
    target: targetOf(factsOf(reference), { advance: (ms) => reference.advance(ms) }),
    close: () => reference.close(),
  };
}

/** What the thread of the server is told, and what it answers. */
export type Order = { readonly order: "advance"; readonly ms: number } | { readonly order: "close" };
export type Answer =
  | { readonly answer: "listening"; readonly facts: ServerFacts }
  | { readonly answer: "done" }
  | { readonly answer: "failed"; readonly reason: string };

/** Starts the reference server in a thread of its own, so that the harness and the server each have a core. */
export async function startEmbeddedApart(patches: readonly Patch[] = []): Promise<Embedded> {
  const file = import.meta.url.endsWith(".ts") ? "./server-thread.ts" : "./server-thread.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: patches.map(({ kind, name }) => ({ kind, name })),
  });
  const first = await answerOf(worker);
  if (first.answer !== "listening") throw new Error("the embedded server did not say where it listens");
  return {
    target: targetOf(first.facts, { advance: (ms) => obey(worker, { order: "advance", ms }) }),
    close: async () => {
      await obey(worker, { order: "close" });
      await worker.terminate();
    },
  };
}

async function obey(worker: Worker, order: Order): Promise<void> {
  const answered = answerOf(worker);
  worker.postMessage(order);
  await answered;
}

/** The next answer of the thread; orders are given one at a time. */
function answerOf(worker: Worker): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off("message", onMessage);
      worker.off("error", onError);
    };
    const onError = (error: unknown): void => {
      settle();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const onMessage = (answer: Answer): void => {
      settle();
      if (answer.answer === "failed") reject(new Error(answer.reason));
      else resolve(answer);
    };
    worker.on("message", onMessage);
    worker.on("error", onError);
  });
}
