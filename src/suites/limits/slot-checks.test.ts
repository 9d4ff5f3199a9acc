import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { suite } from "../../run/judge/check.ts";
import type { SlotsHeld, FailuresBeyondSlots } from "./slot-probes.ts";
import type { FailedStreamsBeyondSlots, StreamsHeld } from "./stream-slot-probes.ts";
import { slotChecks } from "./slot-checks.ts";
import { timedOutInvokesCheck, type TimedOutInvokes } from "./timeouts.ts";
import { event, exchange, streamed } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const slots = suite("Slots", [...slotChecks, timedOutInvokesCheck]);
const ok = (): Exchange => exchange();
const refused = (remaining = 5): Exchange =>
  exchange({ status: 429, headers: [["X-RateLimit-Remaining", String(remaining)]] });
const refusedForMonth = (): Exchange => exchange({ status: 429, json: { error: { retry_after: 900_000 } } });
const failed = (): Exchange => exchange({ status: 500 });

const held = (more: Partial<SlotsHeld> = {}): SlotsHeld => ({
  concurrent: 2,
  held: [ok(), ok()],
  extra: refused(),
  twin: null,
  health: ok(),
  batch: null,
  extraEndedAfterMs: 0,
  after: ok(),
  ...more,
});

describe("slots held by slow requests", () => {
  it.each<[id: string, name: string, evidence: SlotsHeld, kind: string]>([
    ["LIM-5", "one more is refused", held(), "holds"],
    ["LIM-5", "one more runs beside them", held({ extra: ok(), extraEndedAfterMs: 500 }), "breach"],
    ["LIM-5", "one more waits for a slot", held({ extra: ok(), extraEndedAfterMs: 2000 }), "unproven"],
    ["LIM-5", "not all were admitted", held({ held: [ok(), refused()] }), "unproven"],
    ["LIM-6", "all are admitted", held(), "holds"],
    ["LIM-6", "one too few", held({ held: [ok(), refused()] }), "breach"],
    ["LIM-6", "the last overtook another", held({ held: [ok(), refused()], extra: ok() }), "holds"],
    ["LIM-6", "the key is refused afterwards too", held({ held: [ok(), refused()], after: refused() }), "unproven"],
    ["LIM-6", "one is refused for the rate", held({ held: [ok(), refused(0)] }), "unproven"],
    [
      "LIM-6",
      "one fails, one is refused for the rate",
      held({ concurrent: 3, held: [ok(), failed(), refused(0)] }),
      "unproven",
    ],
    [
      "LIM-6",
      "one of two refusals is for the rate",
      held({ concurrent: 4, held: [ok(), refused(), refused(0)] }),
      "breach",
    ],
    ["LIM-6", "one fails", held({ held: [ok(), failed()] }), "unproven"],
    [
      "LIM-9/same tier, slots",
      "another key is admitted meanwhile",
      held({ twin: { during: ok(), after: ok() } }),
      "holds",
    ],
    ["LIM-9/same tier, slots", "another key is refused", held({ twin: { during: refused(), after: ok() } }), "breach"],
    [
      "LIM-9/same tier, slots",
      "another key stays refused",
      held({ twin: { during: refused(), after: refused() } }),
      "unproven",
    ],
    ["LIM-9/same tier, slots", "the tier has one key", held(), "inapplicable"],
    ["LIM-17", "a request afterwards is admitted", held(), "holds"],
    ["LIM-17", "a request afterwards finds no slot", held({ after: refused() }), "breach"],
    ["LIM-17", "a request afterwards is refused for the rate", held({ after: refused(0) }), "unproven"],
    ["LIM-17", "a request afterwards is refused for the month", held({ after: refusedForMonth() }), "unproven"],
    ["LIM-6", "one is refused for the month", held({ held: [ok(), refusedForMonth()] }), "unproven"],
  ])("%s, %s", (id, _, evidence, kind) => {
    expect(judged(slots, id, evidence)).toBe(kind);
  });
});

const spent = (more: Partial<FailuresBeyondSlots> = {}): FailuresBeyondSlots => ({
  concurrent: 2,
  before: ok(),
  refusedInput: [exchange({ status: 400 }), exchange({ status: 400 }), exchange({ status: 400 })],
  between: ok(),
  failed: [failed(), failed(), failed()],
  after: ok(),
  ...more,
});

describe("slots of requests that end badly", () => {
  it.each<[id: string, name: string, evidence: FailuresBeyondSlots, kind: string]>([
    ["LIM-17/refused input", "given back", spent(), "holds"],
    ["LIM-17/refused input", "kept", spent({ between: refused() }), "breach"],
    ["LIM-17/refused input", "none answered 400", spent({ refusedInput: [ok()] }), "unproven"],
    ["LIM-17/failure", "given back", spent(), "holds"],
    ["LIM-17/failure", "kept", spent({ after: refused() }), "breach"],
    ["LIM-17/failure", "kept by refused input already", spent({ between: refused() }), "unproven"],
    ["LIM-17/failure", "none failed", spent({ failed: [ok()] }), "unproven"],
    ["LIM-17/refused input", "fewer than the slots", spent({ concurrent: 50 }), "unproven"],
    ["LIM-17/refused input", "fewer than the slots, and kept", spent({ concurrent: 50, between: refused() }), "breach"],
    ["LIM-17/failure", "fewer than the slots", spent({ concurrent: 50 }), "unproven"],
    ["LIM-17/failure", "fewer than the slots, and kept", spent({ concurrent: 50, after: refused() }), "breach"],
    [
      "LIM-17/failure",
      "only some failed",
      spent({ concurrent: 3, failed: [failed(), ok(), failed(), ok()] }),
      "unproven",
    ],
    [
      "LIM-17/failure",
      "refused for the rate early",
      spent({ concurrent: 3, failed: [failed(), refused(0)] }),
      "unproven",
    ],
    [
      "LIM-17/failure",
      "a slot was free late",
      spent({ concurrent: 3, failed: [failed(), failed(), refused()] }),
      "holds",
    ],
  ])("%s, %s", (id, _, evidence, kind) => {
    expect(judged(slots, id, evidence)).toBe(kind);
  });
});

describe("slots of streams that fail", () => {
  const failedStream = (): Exchange => streamed([event("start", {}), event("error", {})]);
  const failedStreams = (more: Partial<FailedStreamsBeyondSlots> = {}): FailedStreamsBeyondSlots => ({
    concurrent: 2,
    before: ok(),
    failed: [failedStream(), failedStream(), failedStream()],
    after: ok(),
    ...more,
  });
  const { concurrent: _, ...older } = failedStreams();

  it.each<[name: string, evidence: FailedStreamsBeyondSlots, kind: string]>([
    ["given back", failedStreams(), "holds"],
    ["given back, in older evidence", older, "holds"],
    ["kept", failedStreams({ after: refused() }), "breach"],
    ["none failed", failedStreams({ failed: [open()] }), "unproven"],
    ["fewer than the slots", failedStreams({ concurrent: 50 }), "unproven"],
    ["fewer than the slots, and kept", failedStreams({ concurrent: 50, after: refused() }), "breach"],
  ])("LIM-17/streams that fail: %s", (_name, evidence, kind) => {
    expect(judged(slots, "LIM-17/streams that fail", evidence)).toBe(kind);
  });
});

const open = (): Exchange =>
  streamed([event("start", {}, 1010), event("chunk", {}, 2000), event("done", {}, 3000)], { endMs: 3000 });
const streams = (more: Partial<StreamsHeld> = {}): StreamsHeld => ({
  concurrent: 2,
  streams: [open(), open()],
  extras: [refused(), refused()],
  more: [],
  after: ok(),
  ...more,
});

/** An extra request that is admitted at once while the held requests go on. */
const slippedIn = (): Exchange => exchange({ endMs: 1500 });

/** A stream whose head arrived in time, but whose events arrived too late. */
const headAlone = (): Exchange => {
  const { answer, ...asked } = open();
  return { ...asked, answer: { ...answer, events: [] } as Exchange["answer"] };
};

describe("slots held by streams", () => {
  it.each<[id: string, name: string, evidence: StreamsHeld, kind: string]>([
    ["LIM-18", "a request beyond them is refused", streams(), "holds"],
    ["LIM-18", "a request beyond them slips in", streams({ extras: [refused(), exchange({ endMs: 1500 })] }), "breach"],
    [
      "LIM-18",
      "a request is admitted as they end",
      streams({ extras: [refused(), exchange({ endMs: 2500 })] }),
      "holds",
    ],
    ["LIM-18", "not all were opened", streams({ streams: [open(), refused()] }), "unproven"],
    ["LIM-5/streams", "a request beyond them is refused", streams(), "holds"],
    ["LIM-5/streams", "not all were opened", streams({ streams: [open(), refused()] }), "unproven"],
    [
      "LIM-5/streams",
      "one more stream goes on beside them, and the next is refused",
      streams({ extras: [slippedIn(), refused()], more: [open(), refused()] }),
      "breach",
    ],
    [
      "LIM-5/streams",
      "one more stream goes on beside them, and the next is refused for the rate",
      streams({ extras: [slippedIn(), refused()], more: [open(), refused(0)] }),
      "unproven",
    ],
    [
      "LIM-5/streams",
      "the head of one more stream has come, which may wait for a slot",
      streams({ extras: [slippedIn(), refused()], more: [headAlone(), refused()] }),
      "unproven",
    ],
    [
      "LIM-5/streams",
      "streams hold no slot",
      streams({ extras: [slippedIn(), slippedIn()], more: [open(), open(), open()] }),
      "unproven",
    ],
    [
      "LIM-5/streams",
      "only invokes slip in",
      streams({ extras: [slippedIn(), slippedIn()], more: [refused()] }),
      "unproven",
    ],
    [
      "LIM-5/streams",
      "the key is refused afterwards too",
      streams({ extras: [slippedIn(), refused()], more: [open(), refused()], after: refused() }),
      "unproven",
    ],
    ["LIM-17/streams", "given back", streams(), "holds"],
    ["LIM-17/streams", "kept", streams({ after: refused() }), "breach"],
    ["LIM-17/streams", "none was opened", streams({ streams: [refused()] }), "unproven"],
  ])("%s, %s", (id, _, evidence, kind) => {
    expect(judged(slots, id, evidence)).toBe(kind);
  });
});

describe("slots of invokes that time out", () => {
  const timedOut = (more: Partial<TimedOutInvokes> = {}): TimedOutInvokes => ({
    invokes: [failed(), failed()],
    after: ok(),
    later: null,
    ...more,
  });

  it.each<[name: string, evidence: TimedOutInvokes | null, kind: string]>([
    ["given back", timedOut(), "holds"],
    ["given back five seconds later", timedOut({ after: refused(), later: ok() }), "holds"],
    ["kept", timedOut({ after: refused(), later: refused() }), "breach"],
    ["refused for the rate", timedOut({ after: refused(), later: refused(0) }), "unproven"],
    ["of an agent that answers in time", timedOut({ invokes: [ok(), failed()] }), "unproven"],
    ["without a test clock", null, "inapplicable"],
  ])("LIM-17/invokes that time out: %s", (_, evidence, kind) => {
    expect(judged(slots, "LIM-17/invokes that time out", evidence)).toBe(kind);
  });
});
