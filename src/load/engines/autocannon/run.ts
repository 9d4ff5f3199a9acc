import type { ChildProcess } from "node:child_process";

import manifest from "autocannon/package.json" with { type: "json" };

import { HarnessLimitError } from "../../../base/harness-limit.ts";
import { atSpeed, type Flow, type Scenario } from "../../scenarios.ts";
import { startProcess } from "../../../base/spawn-module.ts";
import { type Engine, type EngineOptions, EngineProblem, unsupportedReason } from "../../engine.ts";
import { type LoadEvidence, loadEvidenceFormat } from "../../../evidence/load-evidence.ts";
import { stopReason } from "../../target-watch.ts";
import { prepareRequest } from "./request.ts";
import type { FromSender, SendJob, SendResult, ToSender } from "./sender.ts";

/** Sends the flows of a scenario with autocannon. Flows that autocannon cannot send, e.g. streams, use undici. */
export const runAutocannon: Engine = async (scenario, options) => {
  const flows = scenario.flows(options.limits);
  assertSupported(scenario, flows, options);
  const { baseUrl, agents, roleRequests, keys, speed, network, userAgent } = options;
  const jobFlows = flows.map((flow) => atSpeed(flow, speed));
  const job = { baseUrl, agents, roleRequests, keys, speed, network, userAgent, flows: jobFlows };
  const expectedMs = (scenario.seconds(options.limits) / speed) * 1000;
  const result = await runSender(startSender(), job, options, expectedMs);
  return evidenceOf(scenario, flows, options, result);
};

function assertSupported(scenario: Scenario, flows: readonly Flow[], options: EngineOptions): void {
  const reason = unsupportedReason("autocannon", flows);
  if (reason !== null) throw new EngineProblem(reason);
  if (options.segments > 1)
    throw new EngineProblem("autocannon runs in one process: for several segments use the engine k6.");
  for (const { key, operation } of flows) {
    const text = options.keys[key];
    if (text === null)
      throw new EngineProblem(`${scenario.name} needs a ${key} key of the same tier: name one in the target file.`);
    prepareRequest(operation, text, options);
  }
}

function startSender(): ChildProcess {
  return startProcess(import.meta.url, "sender", {
    serialization: "advanced",
    // Silences Node's warning about autocannon's negative timeouts, which are harmless.
    execArgv: ["--disable-warning=TimeoutNegativeWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

/** Time, in ms, that a stopped sender process gets to report its results. After that, it is killed. */
const stopTimeoutMs = 10_000;

async function runSender(
  sender: ChildProcess,
  job: SendJob,
  options: EngineOptions,
  expectedMs: number,
): Promise<SendResult> {
  const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
  const post = (message: ToSender): void => {
    if (sender.connected) sender.send(message);
  };
  let deadline: NodeJS.Timeout | undefined;
  const stop = (): void => {
    post({ kind: "stop" });
    deadline ??= setTimeout(() => void sender.kill("SIGKILL"), stopTimeoutMs);
  };
  sender.on("message", (message: FromSender) => {
    switch (message.kind) {
      case "ready":
        post({ kind: "send", job });
        if (options.signal.aborted) stop();
        return;
      case "progress":
        return options.onProgress({ elapsedMs: message.elapsedMs, expectedMs, ...message.counts });
      case "done":
        return resolve(message.result);
      case "failed":
        return reject(
          message.limit === null
            ? new EngineProblem(`autocannon failed: ${message.message}`)
            : new HarnessLimitError(message.limit, message.message),
        );
    }
  });
  sender.on("error", reject);
  sender.on("exit", (code, signal) =>
    reject(
      new EngineProblem(`The process that sends with autocannon ended too early (${signal ?? `exit code ${code}`}).`),
    ),
  );
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    options.signal.removeEventListener("abort", stop);
    if (sender.connected) sender.disconnect();
  }
}

function evidenceOf(
  scenario: Scenario,
  flows: readonly Flow[],
  { tier, limits, isFresh, speed, signal }: EngineOptions,
  { byUndici, ...result }: SendResult,
): LoadEvidence {
  return {
    format: loadEvidenceFormat,
    scenario: scenario.name,
    engine: "autocannon",
    engineVersion: manifest.version,
    tier,
    limits,
    flows: [...flows],
    isFresh,
    speed,
    segments: ["0:1"],
    notes: notesOn(byUndici),
    ...result,
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
