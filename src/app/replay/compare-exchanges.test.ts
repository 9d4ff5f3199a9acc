import { describe, expect, it } from "vitest";

import type { Answered, Exchange, Header } from "../../evidence/exchange.ts";
import { sampleExchange, textBody } from "../../report/testing/sample.ts";
import { compareExchanges, hasSignificantDifference } from "./compare-exchanges.ts";

const json = (value: unknown, status = 200): Exchange =>
  sampleExchange("x1", {}, { status, body: textBody(JSON.stringify(value)) });
const headed = (...headers: Header[]): Exchange => sampleExchange("x1", {}, { headers });
const ended = (answer: Partial<Answered>): Exchange => sampleExchange("x1", {}, answer);
const stream = (...events: [string, unknown][]): Exchange =>
  ended({ events: events.map(([name, data]) => ({ name, data: JSON.stringify(data), atMs: 1 })) });
const chunk = (content: string): [string, unknown] => ["chunk", { content }];
const error = (code: string): unknown => ({ error: { code, message: "m", status: 400 } });
const silent: Exchange = { ...json({}), answer: { kind: "unanswered", reason: "silent", detail: "d", endMs: 1 } };

const told = (kept: Exchange, now: Exchange): string[] =>
  compareExchanges(kept, now)
    .filter(({ mark }) => mark !== "same")
    .map(({ mark, name, kept: was, now: is }) => `${mark} ${name}: ${was} → ${is}`);

describe("the differences of two answers", () => {
  it.each<[string, Exchange, Exchange, string[]]>([
    ["none", json({ a: [1, "b", null] }), json({ a: [1, "b", null] }), []],
    ["a status", json({}), json({}, 500), ["significant status: 200 → 500"]],
    ["a value", json({ a: 1 }), json({ a: 2 }), ["value body.a: 1 → 2"]],
    ["an error code", json(error("A"), 400), json(error("B"), 400), ['significant body.error.code: "A" → "B"']],
    ["an absent field", json({ a: { b: 1 } }), json({}), ["significant body.a: object → absent"]],
    ["a field that is new", json({}), json({ a: [1] }), ["significant body.a: absent → array"]],
    ["another type", json({ a: 1 }), json({ a: "1" }), ["significant body.a: number → string"]],
    [
      "types in an array",
      json({ a: [1] }),
      json({ a: [2, "x"] }),
      ["significant body.a[]: number → number or string", "value body.a[0]: 1 → 2"],
    ],
    ["an array that is longer", json({ a: [1] }), json({ a: [1, 2] }), []],
    ["an array that is empty", json({ a: [{ b: 1 }] }), json({ a: [] }), []],
    ["JSON that is none", json({}), ended({ body: textBody("{") }), ["significant body: JSON → text that is not JSON"]],
    ["other text", ended({ body: textBody("<a>") }), ended({ body: textBody("<b>") }), ["value body: <a> → <b>"]],
    ["no body", json({}), ended({ body: textBody("") }), ["significant body: JSON → none"]],
    ["no answer", json({}), silent, ["significant response: 200 → silent"]],
    ["no answer, as before", silent, silent, []],
    [
      "an end",
      json({ result: {} }),
      ended({ ending: { kind: "broken", detail: "d" } }),
      ["significant ending: complete → broken"],
    ],
    [
      "figures",
      headed(["X-RateLimit-Remaining", "9"]),
      headed(["x-ratelimit-remaining", "8"]),
      ["usual x-ratelimit-remaining: 9 → 8"],
    ],
    [
      "a figure that is gone",
      headed(["X-RateLimit-Limit", "9"]),
      headed(),
      ["significant x-ratelimit-limit: 9 → absent"],
    ],
    ["a date", headed(["Date", "a"]), headed(["Date", "b"]), ["usual date: a → b"]],
    [
      "a media type",
      headed(["Content-Type", "a/b"]),
      headed(["Content-Type", "c/d"]),
      ["significant content-type: a/b → c/d"],
    ],
    [
      "a charset",
      headed(["Content-Type", "a/b"]),
      headed(["Content-Type", "a/b; c=d"]),
      ["value content-type: a/b → a/b; c=d"],
    ],
    ["a foreign header", headed(), headed(["X-Vendor", "1"]), ["value x-vendor: absent → 1"]],
    [
      "more chunks",
      stream(["start", {}], chunk("a")),
      stream(["start", {}], chunk("a"), chunk("b")),
      ["value events: start, chunk → start, chunk × 2"],
    ],
    ["a second end", stream(["done", {}]), stream(["done", {}], ["done", {}]), ["significant events: done → done × 2"]],
    [
      "an event's field",
      stream(["done", { message: "m" }]),
      stream(["done", {}]),
      ["significant event done.message: string → absent"],
    ],
    [
      "an event's code",
      stream(["error", { code: "A" }]),
      stream(["error", { code: "B" }]),
      ['significant event error.code: "A" → "B"'],
    ],
  ])("%s", (_, kept, now, lines) => {
    expect(told(kept, now)).toEqual(lines);
    expect(hasSignificantDifference(compareExchanges(kept, now))).toBe(
      lines.some((line) => line.startsWith("significant")),
    );
  });

  it("are found in JSON of any depth and size", () => {
    const deep = (depth: number): Exchange => ended({ body: textBody(`${"[".repeat(depth)}1${"]".repeat(depth)}`) });
    expect(told(deep(5000), deep(5001))).toEqual([]);
    expect(told(json(Array.from({ length: 50_000 }, () => 1)), json({}))).toEqual(["significant body: array → object"]);
  });
});
