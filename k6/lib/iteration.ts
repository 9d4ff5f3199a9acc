import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";

import { earlyRetrySeconds, type Flow, lateRetrySeconds, type TrafficShape } from "../../scenarios/scenario.ts";
import type { SampleLine } from "../../src/load/engines/k6/lines.ts";
import { burstShareOf } from "./executors.ts";
import type { Request } from "./request.ts";
import { sampleOf } from "./sample.ts";

export interface IterationOptions {
  readonly flow: Flow;
  readonly request: Request;
  /** Speed of the target's clock, as a multiple of the speed of this machine's clock. */
  readonly speed: number;
  readonly onSample: (sample: SampleLine) => void;
  readonly onRecovery: (early: readonly SampleLine[], late: SampleLine) => void;
}

export async function sendIteration(options: IterationOptions): Promise<void> {
  const { shape } = options.flow;
  switch (shape.kind) {
    case "at once":
      await sendBurst(options, burstShareOf(shape.requests, exec.scenario.iterationInTest));
      return;
    case "after refusal":
      retryAfterRefusals(options, shape.rounds);
      return;
    case "paced":
      sendPaced(options, shape);
      return;
    case "in turn":
    case "shared":
    case "closed":
      sendOne(options, null);
  }
}

async function sendBurst({ flow, request, onSample }: IterationOptions, requests: number): Promise<void> {
  const { method, url, body, params } = request;
  const responses = Array.from({ length: requests }, async () => {
    const start = { atMs: Date.now(), dueMs: null };
    onSample(sampleOf(flow, start, await http.asyncRequest(method, url, body, params)));
  });
  await Promise.all(responses);
}

/** Sends a request of a constant-rate flow. Sends nothing if k6 starts more iterations than the flow has requests. */
function sendPaced(options: IterationOptions, { perSecond, seconds }: Extract<TrafficShape, { kind: "paced" }>): void {
  const { iterationInTest, startTime } = exec.scenario;
  if (iterationInTest < Math.round(perSecond * seconds))
    sendOne(options, startTime + (iterationInTest * 1000) / perSecond);
}

function sendOne({ flow, request, onSample }: IterationOptions, dueMs: number | null): SampleLine {
  const { method, url, body, params } = request;
  const start = { atMs: Date.now(), dueMs };
  const sample = sampleOf(flow, start, http.request(method, url, body, params));
  onSample(sample);
  return sample;
}

/** Maximum number of requests to send without a refusal. A server without limits never refuses a request. */
const MAX_UNTIL_REFUSED = 20_000;

/** Extra wait before a late retry, in real time. At speed 25, the second in `lateRetrySeconds` lasts only 40 ms. */
const RETRY_MARGIN_MS = 100;

/**
 * Repeats in each round: sends requests until one is refused, then retries after `retry_after`. In rounds with an
 * odd index, also retries earlier if `retry_after` is at least 4 s. Stops if there is no refusal with a `retry_after`.
 */
function retryAfterRefusals(options: IterationOptions, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const refusal = sendUntilRefused(options);
    if (refusal === null || refusal.retryAfterSeconds === null) return;
    const retryAt = (seconds: number, marginMs: number): SampleLine => {
      sleepUntil(refusal.endMs + (seconds * 1000) / options.speed + marginMs);
      return sendOne(options, null);
    };
    const early = earlyRetrySeconds(refusal.retryAfterSeconds, round).map((seconds) => retryAt(seconds, 0));
    options.onRecovery(early, retryAt(lateRetrySeconds(refusal.retryAfterSeconds), RETRY_MARGIN_MS));
  }
}

function sendUntilRefused(options: IterationOptions): SampleLine | null {
  for (let sent = 0; sent < MAX_UNTIL_REFUSED; sent++) {
    const sample = sendOne(options, null);
    if (sample.status === 429) return sample;
    if (sample.status !== 200) return null;
  }
  return null;
}

function sleepUntil(atMs: number): void {
  const waitMs = atMs - Date.now();
  if (waitMs > 0) sleep(waitMs / 1000);
}
