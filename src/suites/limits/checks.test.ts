import { describe, expect, it } from "vitest";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import type { HourEvidence } from "./hour-probe.ts";
import { excessPercentOf } from "./key-history.ts";
import type { TimedRetry } from "./timed-retry.ts";
import type { MinuteEvidence } from "./minute-probe.ts";
import { limits } from "./checks.ts";
import type { SiblingKeyResult } from "./sibling-key.ts";
import { isSuccess } from "../shared/response.ts";
import { exchange, sample } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const free = publishedTiers.free;

/** Samples of consecutive requests at one time of the target's clock, in seconds. */
const sent = (many: number, clockSeconds: number, status: number, realMs: number): Sample[] =>
  Array.from({ length: many }, (_, index) =>
    sample({ sentMs: realMs + index, sentClockMs: clockSeconds * 1000, status }),
  );

const refusal = (remaining = 0, retryAfter: unknown = 40, status = 429): Exchange =>
  exchange({
    status,
    headers: [["X-RateLimit-Remaining", String(remaining)]],
    json: { error: { code: "RATE_LIMIT_EXCEEDED", message: "Too many.", status, retry_after: retryAfter } },
  });

const aMinuteLater = (answer: Exchange): Exchange => ({ ...answer, clockMs: answer.clockMs + 61_000 });

const later = (answer: Exchange, saidSeconds: number, passedSeconds: number): TimedRetry => ({
  exchange: answer,
  saidSeconds,
  atLeastSeconds: passedSeconds,
  atMostSeconds: passedSeconds + 0.1,
});

const minute = (more: Partial<MinuteEvidence> = {}): MinuteEvidence => ({
  limits: free,
  isFresh: true,
  hasClock: true,
  samples: [...sent(10, 0, 200, 0), ...sent(1, 0, 429, 20), ...sent(1, 41, 200, 30)],
  readsCount: false,
  stragglers: [],
  lookalikes: [],
  beganFresh: true,
  first: { admitted: 10, failed: 0, invoked: 10, end: "refused", hiccups: 0 },
  refused: [refusal()],
  health: [exchange()],
  early: later(refusal(0, 4), 40, 36),
  retried: later(exchange(), 40, 40.5),
  twin: { kind: "none", isElsewhere: true },
  other: null,
  ...more,
});

/** The evidence of nine admitted requests, after which all are refused for some seconds. */
const nine = minute({
  samples: [...sent(9, 0, 200, 0), ...sent(1, 0, 429, 2000), ...sent(1, 61, 200, 2010)],
  first: { admitted: 9, failed: 0, invoked: 9, end: "refused", hiccups: 0 },
});
const many = minute({
  samples: sent(45, 0, 200, 0),
  first: { admitted: 45, failed: 0, invoked: 45, end: "all sent", hiccups: 0 },
  refused: [],
});
const failing = minute({
  samples: sent(6, 0, 400, 0),
  first: { admitted: 0, failed: 0, invoked: 0, end: "failing", hiccups: 0 },
  refused: [exchange({ status: 400 })],
});

describe("a minute's allowance", () => {
  it.each<[id: string, name: string, use: MinuteEvidence, kind: string]>([
    ["LIM-1", "ten and a refusal", minute(), "holds"],
    ["LIM-1", "forty-five at once", many, "breach"],
    ["LIM-1", "nothing but 400", failing, "unproven"],
    ["LIM-2", "ten and a refusal", minute(), "holds"],
    ["LIM-2", "nine and a refusal that stays", nine, "breach"],
    ["LIM-2", "nothing but 400", failing, "unproven"],
    ["LIM-7", "a burst of ten", minute(), "holds"],
    ["LIM-7", "a tier whose burst is not shown", minute({ limits: publishedTiers.team }), "inapplicable"],
    ["LIM-10", "a refusal", minute(), "holds"],
    ["LIM-10", "usage is refused, and invoke never", { ...many, other: refusal() }, "breach"],
    ["LIM-12", "429 with an error object", minute(), "holds"],
    ["LIM-12", "503 beyond the limit", minute({ refused: [refusal(0, 40, 503)] }), "breach"],
    ["LIM-12", "429 without an error object", minute({ refused: [exchange({ status: 429, json: {} })] }), "breach"],
    ["LIM-12", "400 below the limit", failing, "unproven"],
    ["LIM-13", "admitted after `retry_after`", minute(), "holds"],
    ["LIM-13", "refused after `retry_after`", minute({ retried: later(refusal(), 40, 40.5) }), "breach"],
    ["LIM-13", "refused for a slot", minute({ retried: later(refusal(10, 1), 40, 40.5) }), "unproven"],
    ["LIM-13", "nothing was sent", minute({ retried: null }), "unproven"],
    ["LIM-14", "still refused before", minute(), "holds"],
    ["LIM-14", "admitted well before", minute({ early: later(exchange(), 40, 30) }), "breach"],
    ["LIM-14", "admitted a second before", minute({ early: later(exchange(), 40, 39.5) }), "unproven"],
    ["LIM-14", "a `retry_after` of a second", minute({ early: null, refused: [refusal(0, 1)] }), "inapplicable"],
    ["HLT-15", "health answers", minute(), "holds"],
    ["HLT-15", "health is refused too", minute({ health: [refusal()] }), "breach"],
    ["HLT-15", "health is closed to the key", minute({ health: [exchange({ status: 403 })] }), "unproven"],
    ["HLT-15", "invoke was never refused", many, "unproven"],
    ["HDR-17", "none remain", minute(), "holds"],
    ["HDR-17", "three remain", minute({ refused: [refusal(3)] }), "breach"],
    ["HDR-17", "ninety of the hour remain", minute({ refused: [withLeft(100, 90)] }), "holds"],
    ["HDR-17", "ten remain below the limit: a slot's refusal", { ...nine, refused: [refusal(10, 1)] }, "unproven"],
    ["HDR-17", "ten remain a minute later: a slot's", minute({ refused: [aMinuteLater(refusal(10, 1))] }), "unproven"],
    ["LIM-8", "ten and a refusal", minute(), "observed"],
    ["LIM-15/minute", "ten and a refusal", minute(), "observed"],
    ["LIM-16", "ten and a refusal", minute(), "observed"],
  ])("%s, %s", (id, _, use, kind) => {
    expect(judged(limits, id, use)).toBe(kind);
  });
});

describe("the excess of a minute's allowance", () => {
  it.each<[string, MinuteEvidence, number | null]>([
    ["is the smallest tried one with which two windows that meet admit as many", many, 50],
    ["is unknown for a breach of another kind", nine, null],
    ["is unknown without a breach", minute(), null],
  ])("%s", (_, use, percent) => {
    expect(excessPercentOf(use, "minute")).toBe(percent);
  });
});

/** A response after `hour(100)` whose headers report an exhausted hour. */
const ofHour = (status: number, reset = 1_772_604_000, resetAfter = 2300): Exchange =>
  exchange({
    status,
    clockMs: 1_230_000,
    headers: [
      ["X-RateLimit-Limit", "100"],
      ["X-RateLimit-Remaining", "0"],
      ["X-RateLimit-Reset", String(reset)],
      ["X-RateLimit-Reset-After", String(resetAfter)],
    ],
  });

/** A 429 that reports how many requests are left of a limit. */
const withLeft = (limit: number, remaining: number): Exchange =>
  exchange({
    status: 429,
    headers: [
      ["X-RateLimit-Limit", String(limit)],
      ["X-RateLimit-Remaining", String(remaining)],
    ],
  });

/** Like {@link ofHour}, in an hour that began after half of the requests. */
const ofLaterHour = (status: number): Exchange => ofHour(status, undefined, 3000);

/** An exhausted hour in which a stream was admitted. */
const slipped = (more: Partial<HourEvidence> = {}): HourEvidence =>
  hour(100, { refused: [ofHour(429)], stream: ofHour(200), afterStream: ofHour(429), ...more });

/** The evidence of ten requests every two minutes or more, then a refusal, and one more request two hours later. */
function hour(admitted: number, more: Partial<HourEvidence> = {}): HourEvidence {
  const samples = Array.from({ length: admitted }, (_, index) =>
    sample({ sentMs: index, sentClockMs: Math.floor(index / 10) * 123_000 }),
  );
  const endSeconds = Math.floor(admitted / 10) * 123;
  return {
    limits: free,
    isFresh: true,
    hasClock: true,
    samples: [...samples, ...sent(1, endSeconds, 429, 5000), ...sent(1, 8000, 200, 5010)],
    readsCount: false,
    stragglers: [],
    lookalikes: [],
    beganFresh: true,
    admitted,
    end: "refused",
    refused: [refusal()],
    health: exchange(),
    stream: ofHour(429),
    afterStream: null,
    retried: later(exchange(), 2400, 2400.5),
    twin: { kind: "none", isElsewhere: false },
    ...more,
  };
}

/**
 * The evidence of a key of the same tier that was used once while the first key was exhausted.
 *
 * @param told the `Remaining` of its earlier response
 */
function twin(after: Exchange, isFresh: boolean, told: readonly Header[] | null = null): SiblingKeyResult {
  const status = isSuccess(after) ? 200 : 429;
  const samples = [...(told === null ? [] : sent(1, 0, 200, 0)), ...sent(1, 60, status, 10), ...sent(1, 130, 200, 20)];
  const use = { limits: free, isFresh, hasClock: false, samples, readsCount: false, stragglers: [], lookalikes: [] };
  return { kind: "asked", before: told === null ? null : exchange({ headers: told }), after, again: exchange(), use };
}
const headersWith = (remaining: number): readonly Header[] => [
  ["X-RateLimit-Limit", "10"],
  ["X-RateLimit-Remaining", String(remaining)],
  ["X-RateLimit-Reset", "1800000060"],
  ["X-RateLimit-Reset-After", "30"],
];
const refusedTwin = exchange({ status: 429, headers: headersWith(0) });

describe("another key of the tier", () => {
  it.each<[name: string, asked: SiblingKeyResult, kind: string]>([
    ["is admitted", twin(exchange(), true), "holds"],
    ["is refused, and never was used", twin(refusedTwin, true), "breach"],
    ["is refused, and may have been used before", twin(refusedTwin, false), "unproven"],
    ["is refused, and was told that nine are left", twin(refusedTwin, false, headersWith(9)), "breach"],
    ["is refused, and was told that one is left", twin(refusedTwin, false, headersWith(1)), "unproven"],
    ["has one less left", twin(exchange({ headers: headersWith(8) }), false, headersWith(9)), "holds"],
    ["has ten less left", twin(exchange({ headers: headersWith(0) }), false, headersWith(10)), "breach"],
    ["is not there, and another tier has two", { kind: "none", isElsewhere: true }, "inapplicable"],
    ["is not there", { kind: "none", isElsewhere: false }, "unproven"],
    ["was not asked, as nothing was refused", { kind: "not asked" }, "unproven"],
    ["fails", twin(exchange({ status: 500 }), true), "unproven"],
  ])("%s", (_, asked, kind) => {
    expect(judged(limits, "LIM-9/same tier", minute({ twin: asked }))).toBe(kind);
  });
});

describe("an hour's allowance", () => {
  it.each<[id: string, name: string, use: HourEvidence, kind: string]>([
    ["LIM-3", "a hundred", hour(100), "holds"],
    ["LIM-3", "two hundred and one", hour(201), "breach"],
    ["LIM-3/stream", "a stream that is refused", hour(100), "holds"],
    ["LIM-3/stream", "a stream that is let in", slipped(), "breach"],
    ["LIM-3/stream", "a stream of the next hour", slipped({ stream: ofHour(200, 1_772_607_600) }), "unproven"],
    ["LIM-3/stream", "a stream, and an invoke after it", slipped({ afterStream: ofHour(200) }), "unproven"],
    [
      "LIM-3/stream",
      "a stream while the hour before gives requests back",
      slipped({ refused: [ofLaterHour(429)], stream: ofLaterHour(200), afterStream: ofLaterHour(429) }),
      "unproven",
    ],
    ["LIM-3/stream", "an hour that was used before", slipped({ beganFresh: false }), "unproven"],
    ["LIM-3/stream", "an agent that does not stream", slipped({ stream: exchange({ status: 404 }) }), "inapplicable"],
    ["LIM-3/stream", "no test clock", hour(100, { stream: null }), "inapplicable"],
    ["LIM-4", "a hundred", hour(100), "holds"],
    ["LIM-4", "ninety-nine", hour(99), "breach"],
    ["LIM-13/hour", "admitted after `retry_after`", hour(100), "holds"],
    ["LIM-13/hour", "refused after it", hour(100, { retried: later(refusal(), 2400, 2400.5) }), "breach"],
    ["LIM-13/hour", "refused for a slot", hour(100, { retried: later(refusal(10, 1), 2400, 2400.5) }), "unproven"],
    ["LIM-13/hour", "nothing was sent after it", hour(100, { retried: null }), "unproven"],
    ["LIM-15/hour", "a hundred", hour(100), "observed"],
    ["HDR-17/hour", "none remain", hour(100, { refused: [ofHour(429)] }), "holds"],
    ["HDR-17/hour", "one remains", hour(100, { refused: [withLeft(100, 1)] }), "breach"],
    ["HDR-17/hour", "ten of the minute remain", hour(100, { refused: [withLeft(10, 10)] }), "inapplicable"],
    ["HDR-17/hour", "one remains, below the limit", hour(99, { refused: [withLeft(100, 1)] }), "inapplicable"],
  ])("%s, %s", (id, _, use, kind) => {
    const isJoint = id === "LIM-4";
    expect(judged(limits, id, isJoint ? { minute: minute(), hour: use } : use)).toBe(kind);
  });
});
