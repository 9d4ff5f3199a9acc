import { closeSync, openSync, writeSync } from "node:fs";

import { sustained } from "../../scenarios/sustained.ts";
import type { EndLine, SampleLine } from "../../src/load/engines/k6/lines.ts";

// What k6 writes of a run of the scenario `sustained` on a server that keeps its limits, made without one.

const beganMs = Date.UTC(2026, 2, 4, 5, 6, 0);
const perSecond = 2000;
const minuteSeconds = 60;
export const limits = {
  perHour: 1e9,
  perMinute: 5_000_000,
  concurrent: 100,
  burst: null,
  tokensPerMonth: null,
} as const;

/** The line of the request with this number, from 0. */
export function sampleLine(number: number): string {
  const dueMs = beganMs + (number * 1000) / perSecond;
  const date = Math.floor((dueMs + 1) / 1000);
  const secondOfMinute = date % minuteSeconds;
  const line: SampleLine = {
    load: "sample",
    flow: "steady",
    key: "main",
    dueMs,
    sentMs: Math.floor(dueMs),
    headMs: Math.floor(dueMs) + 2.125,
    endMs: Math.floor(dueMs) + 3,
    latencyMs: 1 + (number % 997) / 1000,
    status: 200,
    limit: limits.perMinute,
    remaining: limits.perMinute - 1 - (number % (perSecond * minuteSeconds)),
    reset: date - secondOfMinute + minuteSeconds,
    resetAfter: minuteSeconds - secondOfMinute,
    retryAfterSeconds: null,
    date,
    left: false,
    tokens: 10,
    error: null,
    flaws: [],
    stream: null,
  };
  return JSON.stringify(line);
}

/** The last line of a run of so many requests. */
export function endLine(requests: number): string {
  const line: EndLine = {
    load: "end",
    scenario: sustained.name,
    tier: "enterprise",
    limits,
    speed: 1,
    segment: "0:1",
    durationMs: (requests * 1000) / perSecond,
    droppedIterations: 0,
    iterations: requests,
    errors: 0,
  };
  return JSON.stringify(line);
}

const linesInOneWrite = 5000;

/** Writes the log of so many requests. */
export function writeLog(file: string, requests: number): void {
  const out = openSync(file, "w");
  for (let from = 0; from < requests; from += linesInOneWrite) {
    const count = Math.min(linesInOneWrite, requests - from);
    const lines = Array.from({ length: count }, (_, at) => `${sampleLine(from + at)}\n`);
    writeSync(out, lines.join(""));
  }
  writeSync(out, `${endLine(requests)}\n`);
  closeSync(out);
}
