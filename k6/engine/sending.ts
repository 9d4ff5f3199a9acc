import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";

import { earlyRetrySeconds, lateRetrySeconds } from "../../scenarios/scenario.ts";
import { shareOf } from "./executors.ts";
import type { Flow, Shape } from "./flows.ts";
import type { SampleLine } from "./lines.ts";
import type { Request } from "./request.ts";
import { sampleOf } from "./sample.ts";

/** What one iteration needs. `done` is called with each answer, as soon as it is there. */
export interface Sending {
  readonly flow: Flow;
  readonly request: Request;
  /** Milliseconds of the target in one of ours. */
  readonly speed: number;
  readonly done: (sample: SampleLine) => void;
  /** Called with the answers to the requests well before `retry_after` had passed, if any, and to the one right after. */
  readonly recovered: (early: readonly SampleLine[], late: SampleLine) => void;
}

/** Sends what one iteration of this flow is to send. */
export async function send(sending: Sending): Promise<void> {
  const { shape } = sending.flow;
  switch (shape.kind) {
    case "at once":
      await sendAtOnce(sending, shareOf(shape.requests, exec.scenario.iterationInTest));
      return;
    case "after refusal":
      sendAfterRefusals(sending, shape.rounds);
      return;
    case "paced":
      sendPaced(sending, shape);
      return;
    case "in turn":
    case "shared":
    case "closed":
      sendOne(sending, null);
  }
}

async function sendAtOnce({ flow, request, done }: Sending, requests: number): Promise<void> {
  const { method, url, body, params } = request;
  const answers = Array.from({ length: requests }, async () => {
    const start = { atMs: Date.now(), dueMs: null };
    done(sampleOf(flow, start, await http.asyncRequest(method, url, body, params)));
  });
  await Promise.all(answers);
}

/** k6 starts one iteration more than rate × duration, at the very end: that one sends nothing, so that the amount is exact. */
function sendPaced(sending: Sending, { perSecond, seconds }: Extract<Shape, { kind: "paced" }>): void {
  const { iterationInTest, startTime } = exec.scenario;
  if (iterationInTest < Math.round(perSecond * seconds))
    sendOne(sending, startTime + (iterationInTest * 1000) / perSecond);
}

function sendOne({ flow, request, done }: Sending, dueMs: number | null): SampleLine {
  const { method, url, body, params } = request;
  const start = { atMs: Date.now(), dueMs };
  const sample = sampleOf(flow, start, http.request(method, url, body, params));
  done(sample);
  return sample;
}

/** A server without limits, or one that answers otherwise than 200 and 429, must not keep us for ever. */
const MOST_UNTIL_REFUSED = 20_000;

/** After what a refusal announced we wait so much longer, for the two clocks. */
const RIGHT_AFTER_MS = 100;

/**
 * Uses the allowance up, and tries again right after all of what the refusal announced, in some rounds well before as well; then from the start.
 * The waits begin when the refusal was here, so that the server's own count of the seconds has ended before ours.
 */
function sendAfterRefusals(sending: Sending, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const refusal = sendUntilRefused(sending);
    if (refusal === null || refusal.retryAfterSeconds === null) return;
    const askAt = (seconds: number, moreMs: number): SampleLine => {
      sleepUntil(refusal.endMs + (seconds * 1000) / sending.speed + moreMs);
      return sendOne(sending, null);
    };
    const early = earlyRetrySeconds(refusal.retryAfterSeconds, round).map((seconds) => askAt(seconds, 0));
    sending.recovered(early, askAt(lateRetrySeconds(refusal.retryAfterSeconds), RIGHT_AFTER_MS));
  }
}

function sendUntilRefused(sending: Sending): SampleLine | null {
  for (let sent = 0; sent < MOST_UNTIL_REFUSED; sent++) {
    const sample = sendOne(sending, null);
    if (sample.status === 429) return sample;
    if (sample.status !== 200) return null;
  }
  return null;
}

function sleepUntil(atMs: number): void {
  const waitMs = atMs - Date.now();
  if (waitMs > 0) sleep(waitMs / 1000);
}
