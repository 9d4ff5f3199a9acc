import { messageOf } from "../../../base/errors.ts";
import { harnessLimitOf } from "../../../base/harness-limit.ts";
import { sendToParent } from "../../../base/spawn-module.ts";
import { type FromSender, sendFlows, type ToSender } from "./send-flows.ts";

// This module runs in its own process, where work of the harness cannot delay requests. The harness can measure this
// process's CPU use.

const stopController = new AbortController();

const report = (message: FromSender): void => sendToParent(message);

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal, but only the parent process decides when to stop.
process.on("SIGINT", () => {});

process.on("message", (message: ToSender) => {
  if (message.kind === "stop") return stopController.abort();
  sendFlows(message.job, stopController.signal, (elapsedMs, counts) =>
    report({ kind: "progress", elapsedMs, counts: { ...counts } }),
  )
    .then((result) => report({ kind: "done", result }))
    .catch((error: unknown) =>
      report({ kind: "failed", message: messageOf(error), limit: harnessLimitOf(error)?.code ?? null }),
    );
});

report({ kind: "ready" });
