import { describe, expect, it } from "vitest";

import type { Answered, Exchange } from "../../evidence/exchange.ts";
import { createTimeoutPolicy } from "./timeout-policy.ts";
import { anExchange } from "../testing/evidence.ts";

const answer = anExchange("x").answer as Answered;

/** A request to an endpoint of an agent, whose answer began at once. */
const asked = (endpoint: string, sentMs: number, endMs: number, parts: Partial<Answered> = {}): Exchange =>
  anExchange(endpoint, {
    sentMs,
    request: { method: "POST", url: `http://127.0.0.1/v1/agents/a/${endpoint}`, headers: [], body: { kind: "none" } },
    answer: { ...answer, headMs: sentMs, endMs, ...parts },
  });
const silent = (endpoint: string, sentMs: number, endMs: number): Exchange =>
  asked(endpoint, sentMs, endMs, { ending: { kind: "deadline", detail: "silent for some time in mid-body" } });
const closed = (sentMs: number, endMs: number, ...atMs: readonly number[]): Exchange =>
  asked("stream", sentMs, endMs, {
    ending: { kind: "closed by us" },
    events: atMs.map((at) => ({ name: "chunk", data: "{}", comments: 0, atMs: at }) as Answered["events"][number]),
  });

function streamDeadlinesAfter(...exchanges: readonly Exchange[]) {
  const patience = createTimeoutPolicy(() => 0);
  for (const each of exchanges) patience.observe(each);
  return patience.deadlinesFor("POST", "/agents/a/stream");
}

describe("a stream of a target", () => {
  it.each<[name: string, exchanges: readonly Exchange[], headMs: number | undefined, silenceMs: number | undefined]>([
    ["that answers has all the time there is", [asked("stream", 0, 9000)], undefined, undefined],
    ["that was silent elsewhere has what is left", [silent("usage", 0, 28_000)], 12_000, 12_000],
    ["that was silent for nearly all of its time has a little", [silent("usage", 0, 39_000)], 5000, 5000],
    ["that was silent before has a little", [silent("stream", 0, 9000)], 4000, 4000],
    [
      "that was silent before has longer than what came",
      [asked("stream", 0, 2500), silent("stream", 9000, 18_000)],
      8000,
      8000,
    ],
    ["that we left without a word of it has no longer", [closed(0, 6000), silent("stream", 9000, 18_000)], 4000, 4000],
    ["that we left has longer than what came", [closed(0, 6000, 2500), silent("stream", 9000, 18_000)], 8000, 8000],
  ])("%s", (_, exchanges, headMs, silenceMs) => {
    const deadlines = streamDeadlinesAfter(...exchanges);
    expect([deadlines.headMs, deadlines.silenceMs]).toEqual([headMs, silenceMs]);
  });
});

describe("a target that lets a run wait", () => {
  const usage = (sentMs: number, endMs: number): Exchange => anExchange("u", { sentMs, answer: { ...answer, endMs } });
  const inTurn = (count: number, each: (fromMs: number) => Exchange, stepMs: number): Exchange[] =>
    Array.from({ length: count }, (_, at) => each(at * stepMs));
  const apart = asked("invoke", 0, 1);
  const exhaustedBy = (exchanges: readonly Exchange[]): string | null => {
    let nowMs = 0;
    const patience = createTimeoutPolicy(() => nowMs);
    for (const each of exchanges) {
      nowMs = each.answer.endMs;
      patience.observe(each);
    }
    return patience.reasonToStop();
  };

  const goesOn = /^$/;
  it.each<[name: string, exchanges: readonly Exchange[], sentence: RegExp]>([
    ["once", [silent("invoke", 0, 35_000)], goesOn],
    [
      "once for all of its time",
      [silent("invoke", 0, 40_000)],
      /^1 of 1 answers ran into a deadline, which took 40\.0 s/,
    ],
    ["a few times", [silent("stream", 0, 15_000), apart, silent("stream", 16_000, 31_000), apart], goesOn],
    [
      "again and again, with answers between",
      [
        silent("stream", 0, 15_000),
        apart,
        ...inTurn(4, (ms) => silent("stream", 16_000 + ms, 20_000 + ms), 5000).flatMap((each) => [each, apart]),
      ],
      /^5 of 10 answers ran into a deadline, which took 31\.0 s/,
    ],
    ["five times in a row", inTurn(5, (ms) => silent("stream", ms, ms + 4000), 5000), /^5 of 5 answers/],
    ["at once", inTurn(9, () => silent("stream", 0, 15_000), 0), goesOn],
    ["by slow answers of its own", inTurn(4, (ms) => usage(ms, ms + 4900), 5000), goesOn],
    ["by slow agents", inTurn(9, (ms) => asked("invoke", ms, ms + 20_000), 20_000), goesOn],
    ["by slow answers side by side", inTurn(9, () => usage(0, 12_000), 0), goesOn],
    [
      "by slow answers in turn",
      inTurn(3, (ms) => usage(ms, ms + 12_000), 12_000),
      /^3 of 3 answers took 5\.00 s and more where no agent runs, 36\.0 s in all, the last one GET \/v1\/usage: 12\.0 s$/,
    ],
  ])("%s", (_, exchanges, sentence) => {
    expect(exhaustedBy(exchanges) ?? "").toMatch(sentence);
  });
});
