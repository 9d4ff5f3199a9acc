import { describe, expect, it } from "vitest";

import type { Answered, Exchange } from "../../evidence/exchange.ts";
import { createTimeoutPolicy } from "./timeout-policy.ts";
import { anExchange } from "../testing/values.ts";

const answer = anExchange("x").answer as Answered;

/** A request to an endpoint of an agent. The response head arrives at once. */
const agentExchange = (endpoint: string, sentMs: number, endMs: number, parts: Partial<Answered> = {}): Exchange =>
  anExchange(endpoint, {
    sentMs,
    request: { method: "POST", url: `http://127.0.0.1/v1/agents/a/${endpoint}`, headers: [], body: { kind: "none" } },
    answer: { ...answer, headMs: sentMs, endMs, ...parts },
  });
const timedOut = (endpoint: string, sentMs: number, endMs: number): Exchange =>
  agentExchange(endpoint, sentMs, endMs, { ending: { kind: "deadline", detail: "silent for some time in mid-body" } });
const closed = (sentMs: number, endMs: number, ...atMs: readonly number[]): Exchange =>
  agentExchange("stream", sentMs, endMs, {
    ending: { kind: "closed by us" },
    events: atMs.map((at) => ({ name: "chunk", data: "{}", comments: 0, atMs: at }) as Answered["events"][number]),
  });

function streamDeadlinesAfter(...exchanges: readonly Exchange[]) {
  const policy = createTimeoutPolicy(() => 0);
  for (const each of exchanges) policy.observe(each);
  return policy.deadlinesFor("POST", "/agents/a/stream");
}

describe("the deadlines of a stream", () => {
  it.each<[name: string, exchanges: readonly Exchange[], headMs: number | undefined, silenceMs: number | undefined]>([
    ["are unchanged if the target responds", [agentExchange("stream", 0, 9000)], undefined, undefined],
    ["gets the time left after a timeout of another endpoint", [timedOut("usage", 0, 28_000)], 12_000, 12_000],
    ["gets the minimum after timeouts of nearly the total time", [timedOut("usage", 0, 39_000)], 5000, 5000],
    ["gets the shortest deadlines after a timeout", [timedOut("stream", 0, 9000)], 4000, 4000],
    [
      "gets a multiple of its longest response time after a timeout",
      [agentExchange("stream", 0, 2500), timedOut("stream", 9000, 18_000)],
      8000,
      8000,
    ],
    [
      "gets the shortest deadlines if the closed stream had no events",
      [closed(0, 6000), timedOut("stream", 9000, 18_000)],
      4000,
      4000,
    ],
    [
      "gets a multiple of the time to the last event of a closed stream",
      [closed(0, 6000, 2500), timedOut("stream", 9000, 18_000)],
      8000,
      8000,
    ],
  ])("%s", (_, exchanges, headMs, silenceMs) => {
    const deadlines = streamDeadlinesAfter(...exchanges);
    expect([deadlines.headMs, deadlines.silenceMs]).toEqual([headMs, silenceMs]);
  });
});

describe("the reason to stop a run after slow responses", () => {
  const usage = (sentMs: number, endMs: number): Exchange => anExchange("u", { sentMs, answer: { ...answer, endMs } });
  const repeated = (count: number, each: (fromMs: number) => Exchange, stepMs: number): Exchange[] =>
    Array.from({ length: count }, (_, at) => each(at * stepMs));
  const quickResponse = agentExchange("invoke", 0, 1);
  const reasonToStopAfter = (exchanges: readonly Exchange[]): string | null => {
    let nowMs = 0;
    const policy = createTimeoutPolicy(() => nowMs);
    for (const each of exchanges) {
      nowMs = each.answer.endMs;
      policy.observe(each);
    }
    return policy.reasonToStop();
  };

  const noReason = /^$/;
  it.each<[name: string, exchanges: readonly Exchange[], sentence: RegExp]>([
    ["once", [timedOut("invoke", 0, 35_000)], noReason],
    [
      "once, for the whole time of timeouts",
      [timedOut("invoke", 0, 40_000)],
      /^1 of 1 requests timed out, which took 40\.0 s/,
    ],
    [
      "a few times",
      [timedOut("stream", 0, 15_000), quickResponse, timedOut("stream", 16_000, 31_000), quickResponse],
      noReason,
    ],
    [
      "often, with responses in between",
      [
        timedOut("stream", 0, 15_000),
        quickResponse,
        ...repeated(4, (ms) => timedOut("stream", 16_000 + ms, 20_000 + ms), 5000).flatMap((each) => [
          each,
          quickResponse,
        ]),
      ],
      /^5 of 10 requests timed out, which took 31\.0 s/,
    ],
    ["five times in a row", repeated(5, (ms) => timedOut("stream", ms, ms + 4000), 5000), /^5 of 5 requests/],
    ["at the same time", repeated(9, () => timedOut("stream", 0, 15_000), 0), noReason],
    ["by responses just below the bound", repeated(4, (ms) => usage(ms, ms + 4900), 5000), noReason],
    ["by slow agents", repeated(9, (ms) => agentExchange("invoke", ms, ms + 20_000), 20_000), noReason],
    ["by late responses at the same time", repeated(9, () => usage(0, 12_000), 0), noReason],
    [
      "by late responses in sequence",
      repeated(3, (ms) => usage(ms, ms + 12_000), 12_000),
      /^3 of 3 responses took 5\.00 s or more although no agent ran, 36\.0 s in total; the last one was GET \/v1\/usage: 12\.0 s$/,
    ],
  ])("%s", (_, exchanges, sentence) => {
    expect(reasonToStopAfter(exchanges) ?? "").toMatch(sentence);
  });
});
