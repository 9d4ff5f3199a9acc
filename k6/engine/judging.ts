import { check } from "k6";
import { Counter, Trend } from "k6/metrics";
import type { Threshold } from "k6/options";

import {
  type HeaderRule,
  missingHeaders,
  notNegative,
  remainingWithinLimit,
} from "../../src/rules/limits/header-rules.ts";
import type { Expected } from "./expected.ts";
import { type Flow, k6NameOf } from "./flows.ts";
import type { SampleLine } from "./lines.ts";
import { isWhole } from "./sse.ts";

export const admitted = new Counter("admitted");
export const refused = new Counter("refused");
export const other = new Counter("neither_admitted_nor_refused");
/** An exception in an iteration does not fail a run of k6: this counter does. */
export const errors = new Counter("iteration_errors");
const latency = { admitted: new Trend("latency_admitted", true), refused: new Trend("latency_refused", true) };

/** Counts one answer, for people who run a script by hand: k6 tells the flow by its tag `scenario`. */
export function count({ status, left, latencyMs }: SampleLine): void {
  if (left && status === null) return;
  if (status !== null && status < 300) {
    admitted.add(1);
    latency.admitted.add(latencyMs);
  } else if (status === 429) {
    refused.add(1);
    latency.refused.add(latencyMs);
  } else other.add(1);
}

/** What every answer must be, with the clause that says so. */
export function checkSample(flow: Flow, sample: SampleLine): void {
  if (sample.left) return;
  check(sample, {
    "LIM-12: nothing but the answer and 429": ({ status }) => status !== null && mayBe(flow, status),
    "HDR-9: four headers, whole numbers, not negative": (line) =>
      missingHeaders(line).length === 0 && isRight(notNegative, line),
    "HDR-11: Remaining is not above Limit": (line) => isRight(remainingWithinLimit, line),
  });
  if (sample.status === 429)
    check(sample, {
      "LIM-12: a 429 says retry_after": ({ retryAfterSeconds }) => retryAfterSeconds !== null && retryAfterSeconds >= 0,
    });
  if (sample.stream !== null)
    check(sample.stream, { "SSE-2, SSE-4 to SSE-6: start first, chunks, one done or error last": isWhole });
}

/** What requests well before and right after `retry_after` must get. */
export function checkRecovery(early: readonly SampleLine[], late: SampleLine): void {
  for (const each of early)
    check(each, { "LIM-14: still refused well before retry_after": ({ status }) => status === 429 });
  check(late, { "LIM-13: admitted right after retry_after": ({ status }) => status === 200 });
}

/** Thresholds that fail a run by hand (exit code 99). */
export function thresholdsOf(flows: readonly Flow[], expected: Expected): Record<string, Threshold[]> {
  const thresholds: Record<string, Threshold[]> = {
    checks: ["rate==1"],
    iteration_errors: ["count==0"],
    // A run that sent nothing has shown nothing.
    http_reqs: ["count>0"],
  };
  // A flow that k6 could not send as fast as it should has shown nothing.
  if (flows.some(({ shape }) => shape.kind === "paced")) thresholds.dropped_iterations = ["count==0"];
  for (const [name, bounds] of Object.entries(expected)) {
    const flow = flows.find((one) => one.name === name);
    // An expectation of a flow that is not sent would hold for ever.
    if (flow === undefined)
      throw new Error(`Something is expected of the flow "${name}", which this scenario does not have.`);
    thresholds[`admitted{scenario:${k6NameOf(flow)}}`] = [`count>=${bounds.atLeast}`, `count<=${bounds.atMost}`];
  }
  return thresholds;
}

function mayBe({ operation }: Flow, status: number): boolean {
  if (operation.kind === "health") return status === 200;
  if (operation.agent === "failing" && operation.kind === "invoke") return status >= 500 || status === 429;
  return status === 200 || status === 429;
}

const isRight = ({ judge }: HeaderRule, line: SampleLine): boolean => typeof judge(line, null) !== "string";
