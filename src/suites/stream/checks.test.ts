import { describe, expect, it } from "vitest";

import { unicodeText } from "../shared/unicode-text.ts";
import { stream } from "./checks.ts";
import {
  chunk,
  done,
  event,
  exchange,
  type ExchangeOptions,
  failure,
  indexed,
  start,
  streamed,
  timedEvidence,
  unanswered,
  whole,
} from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

describe("a stream that is asked for", () => {
  it.each([
    ["is there", streamed(whole), true, "holds"],
    ["is JSON", exchange({ path: "/agents/echo/stream", json: {} }), true, "breach"],
    ["is refused", exchange({ status: 404, json: {} }), true, "breach"],
    ["is refused by an agent that was only found", exchange({ status: 404, json: {} }), false, "unproven"],
    ["fails with an agent that was only found", exchange({ status: 500, json: {} }), false, "breach"],
    ["is limited", exchange({ status: 429 }), true, "unproven"],
  ] as const)("%s", (_, given, promised, expected) => {
    expect(judged(stream, "SSE-1", { ...timedEvidence(given), promised })).toBe(expected);
  });

  it("is not accepted where it turns out to be an error", () => {
    const bad = streamed([start, failure()]);
    const evidence = {
      plain: timedEvidence(streamed(whole)),
      tried: { together: bad, apart: { size: bad, delay: streamed(whole) } },
    };
    expect(judged(stream, "SSE-22/chunk_size", evidence)).toBe("breach");
    expect(judged(stream, "SSE-22/stream_delay_ms", evidence)).toBe("holds");
  });

  it.each([
    ["whole", unicodeText, "holds"],
    ["in ASCII only", "Sure.", "unproven"],
    ["with half a character", "a\uD83D", "breach"],
    ["with a replacement character", "a\uFFFD", "breach"],
    ["read as Latin-1", Buffer.from(unicodeText, "utf8").toString("latin1"), "breach"],
  ])("carries text %s", (_, text, expected) => {
    const points = Array.from(text, (point) => chunk(point));
    const together = streamed([start, ...points, done]);
    expect(judged(stream, "SSE-30", { plain: timedEvidence(streamed(whole)), tried: { together, apart: {} } })).toBe(
      expected,
    );
  });

  it("may cut a surrogate pair between two chunks", () => {
    const together = streamed([
      start,
      event("chunk", '{"content":"\\ud83d"}'),
      event("chunk", '{"content":"\\ude42"}'),
      done,
    ]);
    expect(judged(stream, "SSE-30", { plain: timedEvidence(together), tried: { together, apart: {} } })).toBe("holds");
  });
});

describe("failures in mid-stream", () => {
  const before = exchange({ path: "/agents/x/stream", status: 500, json: {} });
  const overload = failure({ code: "CAPACITY_ERROR", retry_after: 5 });
  it.each([
    ["SSE-15/failing", "an error event", streamed([start, failure()]), "holds"],
    ["SSE-15/failing", "a code that is a number", streamed([start, failure({ code: 7 })]), "breach"],
    ["SSE-15/failing", "no failure", streamed(whole), "unproven"],
    ["SSE-16/failing", "no `retry_after`", streamed([start, failure()]), "absent"],
    ["SSE-16/overloaded", "a `retry_after` in seconds", streamed([start, overload]), "present"],
    ["SSE-16/overloaded", "a `retry_after` in text", streamed([start, failure({ retry_after: "5" })]), "breach"],
    ["SSE-17", "an error event", streamed([start, failure()]), "holds"],
    ["SSE-17", "an end as if nothing were", streamed(whole), "breach"],
    [
      "SSE-17",
      "cut off without an event",
      streamed([start, chunk("x")], { ending: { kind: "broken", detail: "reset" } }),
      "breach",
    ],
    ["SSE-17", "cut off before its head", unanswered({}, "broken"), "breach"],
    ["SSE-17", "refused before it began", before, "unproven"],
    ["SSE-18", "an error event", streamed([start, failure()]), "holds"],
    ["SSE-18", "an unknown code", streamed([start, failure({ code: "OOPS" })]), "breach"],
    ["SSE-18", "no failure", streamed(whole), "unproven"],
    ["SSE-19", "the code of an overload, with `retry_after`", streamed([start, overload]), "holds"],
    ["SSE-19", "another code", streamed([start, failure()]), "breach"],
    [
      "SSE-19",
      "the code of an overload, without `retry_after`",
      streamed([start, failure({ code: "CAPACITY_ERROR" })]),
      "breach",
    ],
    ["SSE-19", "an end as if nothing were", streamed(whole), "breach"],
    ["SSE-19", "refused before it began", before, "unproven"],
  ] as const)("%s: %s", (id, _case, given, expected) => {
    expect(judged(stream, id, { exchange: given, all: { streams: [given], failing: [] } })).toBe(expected);
  });
});

it.each([
  ["ends in `error`", streamed([start, failure()], { id: "f1" }), "holds"],
  ["goes well for once", streamed(whole, { id: "f1" }), "holds"],
  ["just ends", streamed([start, chunk("x")], { id: "f1" }), "breach"],
  ["is closed by us", streamed([start], { id: "f1", ending: { kind: "closed by us" } }), "unproven"],
  ["is another's", streamed([start, chunk("x")], { id: "f2" }), "unproven"],
] as const)("a stream of an agent that fails %s", (_, given, expected) => {
  const evidence = { asked: {}, all: { streams: [given], failing: ["f1"] } };
  expect(judged(stream, "SSE-17/every agent that fails", evidence)).toBe(expected);
});

describe("the time that a stream takes", () => {
  const spread = [
    event("start", { message: "" }, 1010),
    chunk("a", 0, 2500),
    chunk("b", 1, 4000),
    { ...done, atMs: 4000 },
  ];
  const bunched = spread.map((each) => ({ ...each, atMs: 4000 }));
  it.each([
    ["SSE-29", "spread over seconds", timedEvidence(streamed(spread, { endMs: 4000 })), "holds"],
    ["SSE-29", "all at its end", timedEvidence(streamed(bunched, { endMs: 4000 })), "breach"],
    ["SSE-29", "a stream in no time", timedEvidence(streamed(whole)), "unproven"],
    ["SSE-29", "spread over the clock's seconds", timedEvidence(streamed(whole), [0, 1000, 2000, 2000], 2000), "holds"],
    [
      "SSE-29",
      "all at the end of the clock's seconds",
      timedEvidence(streamed(whole), [2000, 2000, 2000, 2000], 2000),
      "breach",
    ],
    ["SSE-31", "a time that may be", timedEvidence(streamed(whole)), "holds"],
    ["SSE-31", "a negative time", timedEvidence(streamed([start, event("done", { execution_time: -1 })])), "breach"],
    [
      "SSE-31",
      "longer than it took",
      timedEvidence(streamed([start, event("done", { execution_time: 900 })])),
      "breach",
    ],
    [
      "SSE-31",
      "as long as the clock says",
      timedEvidence(streamed([start, event("done", { execution_time: 9 })]), [], 9000),
      "holds",
    ],
    ["SSE-31", "no end", timedEvidence(streamed([start])), "unproven"],
  ] as const)("%s: %s", (id, _case, evidence, expected) => {
    expect(judged(stream, id, evidence)).toBe(expected);
  });
});

describe("a client that closes its streams", () => {
  const held = (made: ExchangeOptions = {}) => streamed([start], { ending: { kind: "closed by us" }, ...made });
  const [busy, admitted] = [exchange({ status: 429, headers: [["X-RateLimit-Remaining", "3"]] }), streamed([start])];
  const closed = {
    kind: "closed",
    slots: 2,
    held: [held(), held()],
    beyond: busy,
    wanted: 2,
    after: [busy, admitted, admitted],
  };
  const late = exchange({ status: 429, headers: [["X-RateLimit-Remaining", "3"]], sentMs: 6000 });
  const usedUp = exchange({ status: 429, headers: [["X-RateLimit-Remaining", "0"]] });
  it.each([
    ["gives its slots back", closed, "holds"],
    ["does not", { ...closed, after: [busy, late] }, "breach"],
    ["gives one of them back", { ...closed, after: [busy, admitted, late] }, "breach"],
    ["may not have written yet", { ...closed, after: [busy, busy] }, "unproven"],
    ["met the minute's limit", { ...closed, after: [usedUp] }, "unproven"],
    ["held no slot", { ...closed, beyond: admitted }, "unproven"],
    ["was too late", { ...closed, held: [held(), streamed(whole)] }, "unproven"],
    ["could not open them", { ...closed, held: [held(), busy] }, "unproven"],
    ["saw none begin", { kind: "not opened", held: [held()] }, "unproven"],
    ["does not know how many there are", { kind: "no known limit" }, "unproven"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(stream, "SSE-27", { left: evidence, slow: timedEvidence(streamed(whole)) })).toBe(expected);
  });

  it("does not, but pauses for longer between its events", () => {
    const slow = timedEvidence(streamed(whole), [0, 30_000, 60_000, 60_000], 60_000);
    expect(judged(stream, "SSE-27", { left: { ...closed, after: [busy, late] }, slow })).toBe("unproven");
  });
});

describe("a temperature at an end of its range", () => {
  const [plain, refused] = [streamed(whole), exchange({ path: "/agents/echo/stream", status: 400, json: {} })];
  it.each([
    ["is accepted", plain, plain, "holds"],
    ["is refused where the rest is not", refused, plain, "breach"],
    ["ends in an error where the rest does not", streamed([start, failure()]), plain, "breach"],
    ["is refused as the rest is", refused, exchange({ status: 400 }), "unproven"],
    ["got no answer", unanswered(), plain, "unproven"],
  ] as const)("%s", (_, tempered, without, expected) => {
    const given = tempered.answer.kind === "unanswered" ? tempered : without;
    expect(judged(stream, "SSE-34/temperature 0.0", { ...timedEvidence(given), tempered })).toBe(expected);
  });
});

describe("a session of streams", () => {
  const inSession = (session: unknown, told: unknown) =>
    streamed([event("start", { message: "Go.", session_id: told }), done], {
      sent: { query: "Hi", session_id: session },
    });
  it.each([
    ["is named as asked", inSession("s-1", "s-1"), "holds"],
    ["is named otherwise", inSession("s-1", "s-2"), "breach"],
    ["is not named", streamed(whole, { sent: { query: "Hi", session_id: "s-1" } }), "unproven"],
    ["is one that nobody named", inSession(null, "s-2"), "unproven"],
  ] as const)("%s", (_, given, expected) => {
    expect(judged(stream, "SSE-35", { asked: {}, all: { streams: [given], failing: [] } })).toBe(expected);
  });

  const saying = (text: string) => streamed([start, chunk(text.slice(0, 3)), chunk(text.slice(3)), done]);
  it.each([
    ["keeps its context", saying("It was word-7."), saying("Which?"), "holds"],
    ["forgets its context", saying("Which?"), saying("Which?"), "breach"],
    ["is not told from another", saying("It was word-7."), saying("It was word-7."), "unproven"],
    ["cannot be asked", exchange({ status: 404 }), saying("Which?"), "unproven"],
  ] as const)("%s", (_, asked, elsewhere, expected) => {
    expect(judged(stream, "SSE-36", { word: "word-7", told: saying("Yes."), asked, elsewhere })).toBe(expected);
  });
});

describe("what is not shown", () => {
  it.each(["SSE-23", "SSE-24", "SSE-25"])("%s is observed", (id) => {
    const evidence = { plain: timedEvidence(indexed(0, 1, 2)), other: timedEvidence(indexed(2)) };
    expect(judged(stream, id, evidence)).toBe("observed");
    expect(judged(stream, id, { ...evidence, other: timedEvidence(exchange({ status: 400 })) })).toBe("observed");
    expect(judged(stream, id, { ...evidence, plain: timedEvidence(unanswered()) })).toBe("unproven");
  });
});
