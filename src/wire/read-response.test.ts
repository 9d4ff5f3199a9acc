import { array, assert, nat, property } from "fast-check";
import { describe, expect, it } from "vitest";

import { createStreamParser } from "./read-response.ts";

const most = { events: 1000, eventChars: 10_000 };

function read(bytes: Buffer, cuts: readonly number[]): [string | null, string][] {
  const reader = createStreamParser(most, () => {});
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  for (let at = 0; at + 1 < places.length; at++) reader.add(bytes.subarray(places[at], places[at + 1]), at);
  reader.end(places.length);
  return reader.events.map(({ name, data }) => [name, data]);
}

const lines = [
  "event: start",
  'data: {"message":"Grüße, 世界 🦜"}',
  "",
  ": a comment",
  "",
  "id: 7",
  "retry: 10",
  "event:chunk",
  "data:one",
  "data: two",
  "",
  "data: three",
  "",
  "",
];
const expected = [
  ["start", '{"message":"Grüße, 世界 🦜"}'],
  ["chunk", "one\ntwo"],
  [null, "three"],
];

describe("reading an event stream", () => {
  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("gives the same events with %s, cut at any bytes", (_, end) => {
    const bytes = Buffer.from(lines.join(end));
    assert(
      property(array(nat(), { maxLength: 12 }), (cuts) => {
        expect(read(bytes, cuts)).toEqual(expected);
      }),
    );
  });

  it("skips a byte-order mark", () => {
    expect(read(Buffer.from(`\ufeff${lines.join("\n")}`), [1, 2])).toEqual(expected);
  });

  it("gives no incomplete event", () => {
    expect(read(Buffer.from("event: start\ndata: {}\n\ndata: unfinished"), [])).toEqual([["start", "{}"]]);
  });

  it("reports each event at once", () => {
    const counts: number[] = [];
    const reader = createStreamParser(most, (events) => counts.push(events.length));
    for (const piece of ["data: 1\n", "\nda", "ta: 2\n\n"]) reader.add(Buffer.from(piece), 0);
    expect(counts).toEqual([1, 2]);
  });

  it("stops at an endless line, and keeps the events before", () => {
    const reader = createStreamParser(most, () => {});
    reader.add(Buffer.from("data: 1\n\ndata: "), 0);
    for (let piece = 0; piece < 40; piece++) reader.add(Buffer.alloc(65_536, "x"), 0);
    reader.add(Buffer.from("\n\ndata: 2\n\n"), 0);
    expect(reader.events.map(({ data }) => data)).toEqual(["1"]);
  });

  it.each([
    [{ events: 3, eventChars: 100 }, "more than 3 events"],
    [{ events: 10, eventChars: 2 }, "more than 2 characters of events"],
  ])("keeps no more than it is told to: %j", (bounds, excess) => {
    const reader = createStreamParser(bounds, () => {});
    reader.add(Buffer.from("data: 1\n\n".repeat(10)), 0);
    expect([reader.events.length, reader.excess()]).toEqual([3, excess]);
  });
});
