import { describe, expect, it } from "vitest";

import { invoke } from "../invoke/checks.ts";
import { exchange, streamed } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";
import { stream } from "./checks.ts";
import { done, start, timedEvidence, whole } from "./testing/streams.ts";

const answered = (status: number) => exchange({ path: "/agents/echo/invoke", method: "POST", status, json: {} });
const control = { exchange: answered(200), clockAfterMs: 0, promised: true };

describe("a query with NUL in a session", () => {
  it.each([
    ["is accepted", answered(200), "holds"],
    ["is invalid input", answered(400), "holds"],
    ["fails", answered(500), "breach"],
    ["is limited", answered(429), "unproven"],
  ])("%s", (_, nul, expected) => {
    expect(judged(invoke, "INV-1/NUL in a session", { unusual: { nul }, control })).toBe(expected);
  });
});

describe("a stream with unusual names and values", () => {
  const plain = timedEvidence(streamed(whole));
  const dollar = { together: answered(400), apart: { keys: answered(400), context: streamed(whole) } };
  it.each([
    ["SSE-22/unusual keys", "breach"],
    ["SSE-34/unusual keys", "holds"],
    ["SSE-1/unusual names and values", "unproven"],
  ])("is rejected for its keys: %s", (id, expected) => {
    expect(judged(stream, id, { unusual: { tried: dollar, clockAfterMs: 0 }, control: plain })).toBe(expected);
  });

  const lasting = (seconds: unknown) =>
    streamed([start, { ...done, data: JSON.stringify({ message: "", usage: {}, execution_time: seconds }) }], {
      endMs: 1000,
    });
  it.each([
    ["in seconds", 1.25, 0, "holds"],
    ["in milliseconds", 1250, 0, "breach"],
    ["as long as the clock was advanced", 1250, 1_250_000, "holds"],
    ["absent", undefined, 0, "unproven"],
  ])("has an `execution_time` %s", (_, seconds, clockAfterMs, expected) => {
    const unusual = { tried: { together: lasting(seconds), apart: {} }, clockAfterMs };
    expect(judged(stream, "SSE-14/with a delay", unusual)).toBe(expected);
  });
});
