import { describe, expect, it } from "vitest";

import { invoke } from "../invoke/checks.ts";
import { done, exchange, start, streamed, timedEvidence, whole } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { stream } from "./checks.ts";

const answered = (status: number) => exchange({ path: "/agents/echo/invoke", method: "POST", status, json: {} });
const control = { exchange: answered(200), clockAfterMs: 0, promised: true };

describe("a query of one unusual text", () => {
  it.each([
    ["is accepted", answered(200), "holds"],
    ["is invalid input", answered(400), "holds"],
    ["fails", answered(500), "breach"],
    ["is limited", answered(429), "unproven"],
  ])("with NUL in a session %s", (_, nul, expected) => {
    expect(judged(invoke, "INV-1/NUL in a session", { unusual: { nul }, control })).toBe(expected);
  });

  it.each([
    ["is accepted", answered(200), "holds"],
    ["counts as missing", answered(400), "breach"],
  ])("`0` %s", (_, zero, expected) => {
    expect(judged(invoke, "INV-1/zero as text", { unusual: { zero }, control })).toBe(expected);
  });
});

describe("an invoke of a slow agent with every field", () => {
  const lasting = (seconds: unknown) =>
    exchange({ path: "/agents/slow/invoke", json: { result: {}, metadata: { execution_time: seconds } }, endMs: 3000 });
  it.each([
    ["in seconds", lasting(2), "present"],
    ["in milliseconds", lasting(2000), "breach"],
    ["absent", lasting(undefined), "inapplicable"],
    ["not there, as the request is rejected", answered(400), "unproven"],
  ])("has an `execution_time` %s", (_, given, expected) => {
    expect(judged(invoke, "INV-4/slow, with every field", { exchange: given, clockAfterMs: 0 })).toBe(expected);
  });

  it("is rejected", () => {
    const every = { exchange: answered(400), clockAfterMs: 0 };
    const accepted = { together: answered(200), apart: {} };
    expect(
      judged(invoke, "INV-1/slow, with every field", { every, plain: control, atMin: accepted, atMax: accepted }),
    ).toBe("breach");
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
