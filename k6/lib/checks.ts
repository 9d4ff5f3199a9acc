import { check } from "k6";
import { Counter, Trend } from "k6/metrics";
import type { Threshold } from "k6/options";

import type { AdmittedByFlow, Flow } from "../../scenarios/scenario.ts";
import type { SampleLine } from "../../src/load/engines/k6/lines.ts";
import {
  type HeaderRule,
  missingHeaders,
  notNegative,
  remainingWithinLimit,
} from "../../src/rules/limits/header-rules.ts";
import { allRateHeaders, headerFormClauses } from "../../src/spec/headers.ts";
import { k6NameOf } from "./executors.ts";
import { isCompleteStream } from "./sse.ts";

const admitted = new Counter("admitted");
const refused = new Counter("refused");
const other = new Counter("neither_admitted_nor_refused");
/** Counts iterations that threw an exception. One is enough to fail a `k6 run`, or a trial of `conformance load`. */
export const iterationErrors = new Counter("iteration_errors");
const latency = { admitted: new Trend("latency_admitted", true), refused: new Trend("latency_refused", true) };

export function countResponse({ status, left, latencyMs }: SampleLine): void {
  if (left && status === null) return;
  if (status !== null && status < 300) {
    admitted.add(1);
    latency.admitted.add(latencyMs);
  } else if (status === 429) {
    refused.add(1);
    latency.refused.add(latencyMs);
  } else other.add(1);
}

const presenceCheck = `HDR-1, HDR-4 to HDR-7: ${allRateHeaders}`;
const formCheck = `${headerFormClauses.join(", ")}: headers have a legal value`;

export function checkSample(flow: Flow, sample: SampleLine): void {
  if (sample.left) return;
  check(sample, {
    "LIM-12: nothing but the answer and 429": ({ status }) => status !== null && isAllowedStatus(flow, status),
    [presenceCheck]: (line) => missingHeaders(line, line.malformed).length === 0,
    [formCheck]: (line) => line.malformed === undefined && obeysRule(notNegative, line),
    "HDR-11: Remaining is not above Limit": (line) => obeysRule(remainingWithinLimit, line),
  });
  if (sample.status === 429)
    check(sample, {
      "LIM-12: a 429 says retry_after": ({ retryAfterSeconds }) => retryAfterSeconds !== null && retryAfterSeconds >= 0,
    });
  if (sample.stream !== null)
    check(sample.stream, { "SSE-2, SSE-4 to SSE-6: start first, chunks, one done or error last": isCompleteStream });
}

export function checkRecovery(early: readonly SampleLine[], late: SampleLine): void {
  for (const each of early)
    check(each, { "LIM-14: still refused well before retry_after": ({ status }) => status === 429 });
  check(late, { "LIM-13: admitted right after retry_after": ({ status }) => status === 200 });
}

/** Returns the thresholds of a script that a user starts by `k6 run`. If a threshold fails, k6 exits with 99. */
export function thresholdsOf(flows: readonly Flow[], admittedByFlow: AdmittedByFlow): Record<string, Threshold[]> {
  const thresholds: Record<string, Threshold[]> = {
    checks: ["rate==1"],
    iteration_errors: ["count==0"],
    // A k6 run without requests proves nothing.
    http_reqs: ["count>0"],
  };
  // A k6 run that did not keep the constant rate proves nothing.
  if (flows.some(({ shape }) => shape.kind === "paced")) thresholds.dropped_iterations = ["count==0"];
  for (const [name, { min, max }] of Object.entries(admittedByFlow)) {
    const flow = flows.find((one) => one.name === name);
    // Without this error, nobody would notice a misspelt flow name: the flow's bounds would never be checked.
    if (flow === undefined)
      throw new Error(`The scenario has bounds for the flow "${name}", but does not send such a flow.`);
    thresholds[`admitted{scenario:${k6NameOf(flow)}}`] = [`count>=${min}`, `count<=${max}`];
  }
  return thresholds;
}

function isAllowedStatus({ operation }: Flow, status: number): boolean {
  if (operation.kind === "health") return status === 200;
  if (operation.agent === "failing" && operation.kind === "invoke") return status >= 500 || status === 429;
  return status === 200 || status === 429;
}

const obeysRule = ({ judge }: HeaderRule, line: SampleLine): boolean => typeof judge(line, null) !== "string";
