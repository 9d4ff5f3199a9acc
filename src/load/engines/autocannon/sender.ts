import { messageOf } from "../../../base/errors.ts";
import type { FromSender, ToSender } from "./messages.ts";
import { sendFlows } from "./send-flows.ts";

// The process that sends the load, so that its share of the processor can be told and the rest of the harness does not slow it down.

const stopping = new AbortController();

const tell = (message: FromSender): void => void process.send?.(message);

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal; when to stop is the parent's to say.
process.on("SIGINT", () => {});

process.on("message", (message: ToSender) => {
  if (message.kind === "stop") return stopping.abort();
  sendFlows(message.job, stopping.signal, (elapsedMs, tally) =>
    tell({ kind: "progress", elapsedMs, tally: { ...tally } }),
  )
    .then((sending) => tell({ kind: "done", sending }))
    .catch((error: unknown) => tell({ kind: "failed", message: messageOf(error) }));
});

tell({ kind: "ready" });
