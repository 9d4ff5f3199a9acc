import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import type { CombinedResult } from "../shared/acceptance.ts";
import { invoke } from "./checks.ts";
import { longQuery } from "./probes.ts";
import { unicodeText } from "../shared/unicode-text.ts";
import { exchange, type ExchangeOptions, unanswered } from "../testing/evidence.ts";
import { judgeBy, judged } from "../testing/judged.ts";

const answer = { result: { output: "Hello." } };
const full = {
  ...answer,
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  metadata: { execution_time: 0.01, agent_version: "1.0.0", request_id: "r1" },
};
const timed = (json: unknown, made: ExchangeOptions = {}) => ({
  exchange: exchange({ json, ...made }),
  clockAfterMs: 0,
});
const tried = (together: Exchange, apart: CombinedResult<string>["apart"] = {}): CombinedResult<string> => ({
  together,
  apart,
});
const refused = (code: string, status = 400) => exchange({ status, json: { error: { code, message: "No.", status } } });
const formB = exchange({
  status: 400,
  json: { status: "error", error: { code: "MISSING_REQUIRED_FIELD", message: "No.", details: { field: "query" } } },
});

describe("the fields of an invoke's answer", () => {
  it.each([
    ["INV-1", timed(full), "holds", "cool"],
    ["INV-1", timed(full, { status: 201 }), "breach", "cool"],
    ["INV-1", timed(full, { status: 429 }), "unproven", "cool"],
    ["INV-1", { exchange: unanswered(), clockAfterMs: 0 }, "breach", "cool"],
    ["INV-1", timed(full, { status: 500 }), "unproven", "cool"],
    ["INV-1", { ...timed(full, { status: 500 }), promised: true }, "breach", "cool"],
    ["INV-2", timed(answer), "holds", null],
    ["INV-2", timed({ status: "success", data: { result: {} } }), "breach", null],
    ["INV-2", timed({ result: "text" }), "breach", null],
    ["INV-2", timed(undefined), "breach", null],
    ["INV-2", timed(undefined, { text: "<html>" }), "unproven", null],
    ["INV-2", timed(full, { status: 500 }), "unproven", null],
    ["INV-3", timed(answer), "absent", null],
    ["INV-3", timed(full), "present", null],
    [
      "INV-3",
      timed(null, { text: '{"result":{},"usage":{"prompt_tokens":1.0,"completion_tokens":2.0,"total_tokens":3.0}}' }),
      "present",
      null,
    ],
    ["INV-3", timed({ ...answer, usage: { ...full.usage, total_tokens: "7" } }), "breach", null],
    ["INV-3", timed({ ...answer, usage: { prompt_tokens: 1 } }), "present", null],
    ["INV-3", timed({ ...answer, usage: null }), "absent", null],
    ["INV-3", timed({ ...answer, usage: [] }), "breach", null],
    ["INV-4", timed({ ...answer, metadata: {} }), "absent", null],
    ["INV-4", timed({ ...answer, metadata: { execution_time: 1 } }), "present", null],
    ["INV-4", timed({ ...answer, metadata: { execution_time: "1 s" } }), "breach", null],
    ["INV-4", timed({ ...answer, metadata: "none" }), "breach", null],
    ["INV-5", timed({ ...answer, metadata: "none" }), "unproven", null],
    ["INV-5", timed({ ...answer, metadata: { agent_version: 2 } }), "breach", null],
    ["INV-6", timed(full), "present", null],
    ["INV-9", timed(full), "holds", null],
    ["INV-9", timed({ ...answer, metadata: { execution_time: -1 } }), "breach", null],
    ["INV-9", timed({ ...answer, metadata: { execution_time: 20 } }), "breach", null],
    [
      "INV-9",
      { exchange: exchange({ json: { metadata: { execution_time: 20 } } }), clockAfterMs: 20_000 },
      "holds",
      null,
    ],
    ["INV-23", timed(full), "observed", null],
  ] as const)("%s of %j: %s", (id, evidence, expected, extra) => {
    const given = extra === null ? evidence : { plain: evidence, tried: tried(exchange({ status: 400 })) };
    expect(judged(invoke, id, given)).toBe(expected);
  });

  it("wants the total to be the sum, and request ids to differ", () => {
    const all = { exchanges: [], validKeys: ["main"] };
    const others = { atMin: tried(exchange({ json: full })), atMax: tried(exchange({ json: answer })) };
    expect(judged(invoke, "INV-7", { plain: timed(full), ...others })).toBe("holds");
    expect(judged(invoke, "INV-8", { all, plain: timed(full), ...others })).toBe("breach");
    const other = { ...full, usage: { ...full.usage, total_tokens: 8 }, metadata: { request_id: "r2" } };
    const distinct = { ...others, atMin: tried(exchange({ json: other })) };
    expect(judged(invoke, "INV-7", { plain: timed(full), ...distinct })).toBe("breach");
    expect(judged(invoke, "INV-8", { all, plain: timed(full), ...distinct })).toBe("holds");
    expect(judged(invoke, "INV-8", { ...others, all, plain: timed(answer), atMin: others.atMax })).toBe("unproven");
  });

  it("lets request ids begin again after the target was away", () => {
    const later = { ...exchange({ json: full }), sentMs: 5000 };
    const judgedWith = (returnsMs: readonly number[]) =>
      judged(invoke, "INV-8", {
        all: { exchanges: [], validKeys: ["main"], returnsMs },
        plain: timed(full),
        atMin: tried(later),
        atMax: tried(exchange({ json: { ...full, metadata: { request_id: "r2" } } })),
      });
    expect(judgedWith([])).toBe("breach");
    expect(judgedWith([4000])).toBe("holds");
  });

  it("wants no more tokens than were asked for", () => {
    const of = (completion_tokens: number) => exchange({ json: { ...answer, usage: { completion_tokens } } });
    expect(longQuery.split(" ").length).toBeGreaterThan(40);
    expect(judged(invoke, "INV-15", tried(of(16)))).toBe("holds");
    expect(judged(invoke, "INV-15", tried(of(17)))).toBe("breach");
    expect(judged(invoke, "INV-15", tried(of(9.5)))).toBe("unproven");
  });
});

describe("features that are to be accepted", () => {
  const good = exchange({ json: answer });
  const bad = refused("INVALID_INPUT");

  it.each([
    ["all at once", timed(answer), tried(good), "holds"],
    ["on its own", timed(answer), tried(bad, { unknownKeys: good, context: bad }), "holds"],
    ["not on its own", timed(answer), tried(bad, { unknownKeys: bad, context: good }), "breach"],
    ["as little as a plain request", timed(answer, { status: 500 }), tried(bad, { unknownKeys: bad }), "unproven"],
    ["not tried apart", timed(answer), tried(unanswered()), "unproven"],
    ["met a limit", timed(answer), tried(bad, { unknownKeys: refused("RATE_LIMITED", 429) }), "unproven"],
  ] as const)("unknown parameters accepted %s", (_, plain, evidence, expected) => {
    expect(judged(invoke, "INV-12", { plain, tried: evidence })).toBe(expected);
  });

  it("blames the combination only where no single feature is to blame", () => {
    const check = "INV-1/with several parameters";
    expect(judged(invoke, check, { plain: timed(answer), tried: tried(bad, { session: bad }) })).toBe("unproven");
    expect(judged(invoke, check, { plain: timed(answer), tried: tried(bad, { session: good }) })).toBe("breach");
  });

  it("blames a session that is demanded on the session's clause alone", () => {
    const evidence = { plain: { exchange: bad, clockAfterMs: 0 }, tried: tried(good) };
    expect(judged(invoke, "INV-1", evidence)).toBe("unproven");
    expect(judged(invoke, "INV-17/optional", evidence)).toBe("breach");
  });
});

describe("refusals", () => {
  it.each([
    ["INV-10", "the code of a missing field", refused("MISSING_REQUIRED_FIELD"), "holds"],
    ["INV-10", "the other form of an error body", formB, "holds"],
    ["INV-10", "the code of invalid input", refused("INVALID_INPUT"), "breach"],
    ["INV-10", "another status", refused("MISSING_REQUIRED_FIELD", 422), "breach"],
    ["INV-10", "an answer", exchange({ json: answer }), "breach"],
    ["INV-10", "a limit was met", refused("RATE_LIMITED", 429), "unproven"],
    ["INV-11", "an unknown agent", refused("AGENT_NOT_FOUND", 404), "holds"],
    ["INV-11", "text instead of an error body", exchange({ status: 404, text: "not found" }), "breach"],
  ] as const)("%s: %s", (id, _case, given, expected) => {
    expect(judged(invoke, id, { plain: timed(answer), mistaken: { refused: given } })).toBe(expected);
  });

  it("accepts a query of another type, or its refusal as invalid input", () => {
    const plain = timed(answer);
    expect(judged(invoke, "INV-20", { plain, odd: { answered: exchange({ json: answer }) } })).toBe("accepted");
    expect(judged(invoke, "INV-20", { plain, odd: { answered: refused("INVALID_INPUT") } })).toBe("refused");
    expect(judged(invoke, "INV-20", { plain, odd: { answered: refused("OOPS", 500) } })).toBe("breach");
  });

  it("needs a request like it that is accepted", () => {
    const plain = timed(answer, { status: 500 });
    expect(judged(invoke, "INV-10", { plain, mistaken: { refused: formB } })).toBe("unproven");
  });
});

describe("a session", () => {
  const says = (output: string) => exchange({ json: { result: { output } } });
  it.each([
    ["is remembered", says("You told me w-1."), says("w-1."), says("Nothing."), "holds"],
    ["is remembered, of the call before alone", says("You told me w-1."), says("m-1."), says("Nothing."), "holds"],
    ["is forgotten", says("Nothing."), says("Nothing."), says("Nothing."), "breach"],
    ["is forgotten at its third call", says("You told me w-1."), says("Nothing."), says("Nothing."), "breach"],
    ["is shared with all", says("You told me w-1."), says("w-1."), says("You told me w-1."), "unproven"],
    ["fails", exchange({ status: 500 }), says("w-1."), says("Nothing."), "unproven"],
  ] as const)("%s", (_, asked, again, elsewhere, expected) => {
    expect(
      judged(invoke, "INV-18", { word: "w-1", marker: "m-1", told: says("Noted."), asked, again, elsewhere }),
    ).toBe(expected);
  });
});

describe("a session after a refused call", () => {
  const says = (output: string) => exchange({ json: { result: { output } } });
  const badInput = exchange({ status: 400 });
  it.each([
    ["is remembered", badInput, says("w-1."), says("You told me m-1."), "holds"],
    ["is forgotten", badInput, says("w-1."), says("Nothing."), "breach"],
    ["was forgotten before", badInput, says("Nothing."), says("Nothing."), "unproven"],
    ["refuses no call", says("w-1."), says("w-1."), says("Nothing."), "unproven"],
    ["refuses the next call, too", badInput, says("w-1."), exchange({ status: 429 }), "unproven"],
  ] as const)("%s", (_, withoutQuery, again, invokedBefore, expected) => {
    const acrossStream = { said: ["w-1", "m-1", "m-2", "m-3"], invokedBefore };
    const session = { word: "w-1", marker: "m-1", again, elsewhere: says("Nothing."), withoutQuery, acrossStream };
    expect(judged(invoke, "INV-18/after a refused call", session)).toBe(expected);
  });
});

describe("a query of many scripts", () => {
  const says = (output: string) => ({ plain: timed(answer), tried: tried(exchange({ json: { result: { output } } })) });
  it.each([
    ["repeated", unicodeText, "holds"],
    ["repeated in another normal form", unicodeText.normalize("NFD"), "holds"],
    ["quoted as JSON with escapes", unicodeText.replace("ü", String.raw`\u00fc`), "holds"],
    ["not repeated", "Sure!", "unproven"],
    ["read as Latin-1", Buffer.from(unicodeText, "utf8").toString("latin1"), "breach"],
    ["with question marks", unicodeText.replaceAll(/[^\p{ASCII}]/gu, "?"), "breach"],
    ["with replacement characters", unicodeText.replace("好", "\uFFFD"), "breach"],
    ["without what is not ASCII", unicodeText.replaceAll(/[^\p{ASCII}]/gu, ""), "breach"],
    ["cut short", unicodeText.slice(0, 60), "holds"],
  ])("%s", (_, text, expected) => {
    expect(judged(invoke, "INV-22", says(text))).toBe(expected);
  });

  it("asks for no other agent if the response has no `result`", () => {
    const handle = exchange({ status: 202, json: { operation_id: "op-1", status: "pending" } });
    const finding = judgeBy(invoke, "INV-22", { plain: timed(answer), tried: tried(handle) });
    expect(finding).toMatchObject({ kind: "unproven", needs: null });
  });
});
