import type { ChildProcess } from "node:child_process";

import { atSpeed, type Flow, type Scenario } from "../../scenarios.ts";
import { startProcess } from "../../../base/spawn-module.ts";
import { type Engine, type EngineOptions, EngineProblem, unsupportedReason } from "../../engine.ts";
import { type LoadEvidence, loadEvidenceFormat } from "../../load-evidence.ts";
import { stopReason } from "../../stall-timeout.ts";
import { prepareRequest } from "./request.ts";
import { autocannonVersion } from "./installed-version.ts";
import type { FromSender, SendJob, SendResult, ToSender } from "./messages.ts";

/** Exact amounts, bursts and closed loops by autocannon; streams, leaving clients and answers that decide by undici beside it. */
export const runAutocannon: Engine = async (scenario, parts) => {
  const flows = scenario.flows(parts.limits);
  demandPossible(scenario, flows, parts);
  const { baseUrl, agents, roleRequests, keys, speed, network } = parts;
  const job = { baseUrl, agents, roleRequests, keys, speed, network, flows: flows.map((flow) => atSpeed(flow, speed)) };
  const expectedMs = (scenario.seconds(parts.limits) / speed) * 1000;
  const sending = await sentBy(startSender(), job, parts, expectedMs);
  return evidenceOf(scenario, flows, parts, sending);
};

function demandPossible(scenario: Scenario, flows: readonly Flow[], parts: EngineOptions): void {
  const reason = unsupportedReason("autocannon", flows);
  if (reason !== null) throw new EngineProblem(reason);
  if (parts.segments > 1)
    throw new EngineProblem("autocannon runs in one process: for several segments use the engine k6.");
  for (const { key, operation } of flows) {
    const text = parts.keys[key];
    if (text === null)
      throw new EngineProblem(`${scenario.name} needs a ${key} key of the same tier: name one in the target file.`);
    prepareRequest(operation, text, parts);
  }
}

function startSender(): ChildProcess {
  return startProcess(import.meta.url, "sender", {
    serialization: "advanced",
    // A timer of the library's that is late by more than its time is no news to anybody.
    execArgv: ["--disable-warning=TimeoutNegativeWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

/** So long the sender has for what it saw after it was stopped. In ms. */
const stoppingMs = 10_000;

async function sentBy(
  sender: ChildProcess,
  job: SendJob,
  parts: EngineOptions,
  expectedMs: number,
): Promise<SendResult> {
  const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
  const say = (message: ToSender): void => {
    if (sender.connected) sender.send(message);
  };
  let deadline: NodeJS.Timeout | undefined;
  const stop = (): void => {
    say({ kind: "stop" });
    deadline ??= setTimeout(() => void sender.kill("SIGKILL"), stoppingMs);
  };
  sender.on("message", (message: FromSender) => {
    switch (message.kind) {
      case "ready":
        say({ kind: "send", job });
        if (parts.signal.aborted) stop();
        return;
      case "progress":
        return parts.onProgress({ elapsedMs: message.elapsedMs, expectedMs, ...message.tally });
      case "done":
        return resolve(message.sending);
      case "failed":
        return reject(new EngineProblem(`autocannon failed: ${message.message}`));
    }
  });
  sender.on("error", reject);
  sender.on("exit", (code, signal) =>
    reject(
      new EngineProblem(`The process that sends with autocannon ended too early (${signal ?? `exit code ${code}`}).`),
    ),
  );
  parts.signal.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    parts.signal.removeEventListener("abort", stop);
    if (sender.connected) sender.disconnect();
  }
}

function evidenceOf(
  scenario: Scenario,
  flows: readonly Flow[],
  { tier, limits, isFresh, speed, signal }: EngineOptions,
  { byUndici, ...sending }: SendResult,
): LoadEvidence {
  return {
    format: loadEvidenceFormat,
    scenario: scenario.name,
    engine: "autocannon",
    engineVersion: autocannonVersion,
    tier,
    limits,
    flows: [...flows],
    isFresh,
    speed,
    segments: ["0:1"],
    notes: notesOn(byUndici),
    ...sending,
    ledger: null,
    deliveries: null,
    server: null,
    stopped: stopReason(signal),
  };
}

function notesOn(byUndici: readonly string[]): string[] {
  return [
    "Times are those of autocannon's events on each connection; its own latencies, in whole milliseconds, are not used.",
    "The first request of a connection is timed from before it connects.",
    "One health request was sent before the load with the main key, and is not among the requests.",
    ...(byUndici.length === 0 ? [] : [`Sent with undici, as autocannon cannot: ${byUndici.join(", ")}.`]),
  ];
}
