import { parentPort, workerData } from "node:worker_threads";

import type { Patch } from "../reference/patch.ts";
import { findPatch } from "../reference/patches.ts";
import { startReference, virtualClock } from "../reference/reference.ts";
import type { Answer, Order } from "./embedded.ts";
import { factsOf } from "./facts.ts";

const port = parentPort;
if (port === null) throw new Error("the thread of the embedded server is started by the embedded server only");

const answer = (said: Answer): void => port.postMessage(said);

const patches = (workerData as readonly Pick<Patch, "kind" | "name">[]).flatMap(
  ({ kind, name }) => findPatch(kind, name) ?? [],
);
const reference = await startReference({ clock: virtualClock(), patches });

port.on("message", (order: Order) => {
  const done = order.order === "advance" ? reference.advance(order.ms) : reference.close();
  done.then(
    () => answer({ answer: "done" }),
    (error: unknown) => answer({ answer: "failed", reason: String(error) }),
  );
});

answer({ answer: "listening", facts: factsOf(reference) });
