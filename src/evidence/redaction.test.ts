import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Exchange, StreamEvent } from "./exchange.ts";
import { redactorFor, type Secret } from "./redaction.ts";
import { tracesIn, keyWritings } from "./testing/traces.ts";

const key = "pk_live/Zq8+Rt4=Wm2x&Lp7";
const secrets: readonly Secret[] = [{ name: "main", value: key }];
const { text: redact, deep } = redactorFor(secrets);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Keys with characters that have a special meaning in some format, escape or regular expression. */
const keys = {
  plain: "ah_team_1cVb6MzS3yGo9iPl5XhDw8Qt",
  "with a quote": 'ah_1cVb6MzS"3yGo9iPl5XhDw8Qt',
  "of punctuation": String.raw`ah_"\\&<>'%25$(.*)[a]{9}|^+?/~`,
  "that looks like escapes": String.raw`ah_%41%2542&amp;\u0041\n\x41&#65;`,
  "of digits": "83719264501837264519",
  "that repeats itself": "abababababababababababab",
  "in hexadecimal": "ah_9f8e7d6c5b4a39281706f5e4d3c2b1a0",
} as const;

const rows = Object.entries(keys).flatMap(([kind, each]) =>
  Object.entries(keyWritings).map(([how, write]) => ({ kind, how, each, text: write(each) })),
);

describe("a redactor", () => {
  it.each(rows)("leaves nothing of a key $kind that occurs $how", ({ each, text }) => {
    const { text: clean } = redactorFor([{ name: "main", value: each }]);
    for (const [before, after] of [["", ""] as const, ["Bearer ", " was sent"] as const, ["x=", ","] as const])
      expect(tracesIn(clean(before + text + after), each)).toEqual([]);
    expect(tracesIn(JSON.stringify({ said: clean(text), [clean(text)]: 1 }), each)).toEqual([]);
  });

  it("leaves nothing of any key in any encoding at any place", () => {
    const anyKey = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 17,
      maxLength: 60,
    });
    const anyWriting = fc.constantFrom(...Object.values(keyWritings));
    const around = fc.constantFrom("", " ", "a", '"', "%", "Bearer ", "&", "\\", "%2", "zz\n");
    const never = fc.property(anyKey, anyWriting, around, around, (value, write, before, after) => {
      const { text: clean } = redactorFor([{ name: "main", value }]);
      expect(tracesIn(clean(before + write(value) + after), value)).toEqual([]);
    });
    expect(() => fc.assert(never)).not.toThrow();
  });

  it.each([
    ["raw", key, "[redacted main]"],
    ["percent-encoded", encodeURIComponent(key), "[redacted main]"],
    ["in hexadecimal", Buffer.from(key).toString("hex"), "[redacted main]"],
    ["with another last character", `${key.slice(0, -1)}x`, "[redacted main, its last character cut off]x"],
    ["without its first character", key.slice(1), "[redacted main, in part or changed]"],
    ["in upper case", key.toUpperCase(), "[redacted main, in part or changed]"],
    ["shortened", `${key.slice(0, 11)}…`, "[redacted main, in part or changed]…"],
  ])("says which secret stood there, and how: %s", (_, form, left) => {
    expect(redact(`before ${form} after`)).toBe(`before ${left} after`);
  });

  it.each(["", "Bearer ", "k:", "abc", "Authorization: Bearer "])(
    "finds it in the base64 of a text that begins with %j",
    (before) => {
      for (const after of ["", "\r\n", "xyz"]) {
        const encoded = base64(before + key + after);
        const left = redact(encoded);
        expect(left).toContain("[redacted main]");
        expect(left.length).toBeLessThan(encoded.length - base64(key).length + 24);
      }
    },
  );

  it("finds two keys with the same beginning, and distinguishes them", () => {
    const { text: clean } = redactorFor([
      { name: "one", value: "ah_team_1cVb6MzS3yGo9iPl5XhDw8Qt" },
      { name: "two", value: "ah_team_1cVb6MzS3yGo9iPl5XhDw8Qx-and-more" },
    ]);
    expect(clean("ah_team_1cVb6MzS3yGo9iPl5XhDw8Qt, ah_team_1cVb6MzS3yGo9iPl5XhDw8Qx-and-more")).toBe(
      "[redacted one], [redacted two]",
    );
  });

  it.each([
    ["a public prefix", "keys begin with pk_live, and nothing else"],
    ["seven characters in common", "Zq8+Rt4 and =Wm2x&L"],
    ["another escape", '{"a":"\\u00e9 100%25 &amp; 50%"}'],
    ["an empty text", ""],
  ])("leaves %s as it is", (_, text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    ["has only its prefix", "of conformance-99 and more", "of conformance-99 and more"],
    ["has only its first digits", "of conformance-712", "of conformance-712"],
    ["is there in part", "of conformance-71234567: more", "of [redacted hook, in part or changed]: more"],
    ["is complete", "of conformance-71234567-89ab-cdef-01s: more", "of [redacted hook]: more"],
    [
      "stands beside another",
      "conformance-71234567, conformance-81234567",
      "[redacted hook, in part or changed], [redacted other, in part or changed]",
    ],
  ])("among secrets that the harness made, judges one by its own part that %s", (_, text, left) => {
    const { text: clean } = redactorFor([
      { name: "hook", value: "conformance-71234567-89ab-cdef-01s" },
      { name: "other", value: "conformance-81234567-89ab-cdef-01s" },
    ]);
    expect(clean(text)).toBe(left);
  });

  it("replaces a short secret only as a separate word", () => {
    const { text: clean } = redactorFor([{ name: "short", value: "abc" }]);
    expect(clean("abcdef abc: abc-d")).toBe("abcdef [redacted short]: abc-d");
  });

  it("replaces a secret that is a harness text only as a separate word", () => {
    const { text: clean } = redactorFor([{ name: "odd", value: "conformance" }], (gram) =>
      "conformance".includes(gram),
    );
    expect(clean("agent-hosting-conformance/1 says conformance")).toBe(
      "agent-hosting-conformance/1 says [redacted odd]",
    );
  });

  it("changes nothing without secrets", () => {
    const same = { any: ["thing"] };
    expect(redactorFor([]).deep(same)).toBe(same);
    expect(redactorFor([{ name: "empty", value: "" }]).text("anything")).toBe("anything");
  });

  it.each([
    ["its own beginning, repeated", key.slice(0, 7).repeat(30_000)],
    ["only escapes", "\\u0070%70&#112;".repeat(14_000)],
    ["its letters one by one, in JSON", JSON.stringify(key.split("").join('"').repeat(3000))],
  ])("takes a long text in one go: %s", (_, text) => {
    expect(redact(text).length).toBeGreaterThan(0);
    expect(tracesIn(redact(text + key).slice(-100), key)).toEqual([]);
  });
});

const event = (content: string): StreamEvent => ({
  name: "chunk",
  data: JSON.stringify({ content, index: 3 }),
  atMs: 1,
});

function streamed(
  contents: readonly string[],
  bodyOf = (events: readonly StreamEvent[]) => events.map(({ data }) => `data: ${data}\n\n`).join(""),
): Exchange {
  const events = contents.map(event);
  const text = bodyOf(events);
  return {
    id: "x1",
    key: "main",
    request: {
      method: "POST",
      url: "http://127.0.0.1/v1/agents/a/stream",
      headers: [["Authorization", `Bearer ${key}`]],
      body: { kind: "none" },
    },
    sentMs: 0,
    clockMs: 0,
    answer: {
      kind: "answered",
      status: 200,
      headers: [["x-echo", key]],
      headMs: 1,
      endMs: 2,
      body: { kind: "text", text, bytes: text.length },
      ending: { kind: "complete" },
      events,
    },
  };
}

const cleaned = (exchange: Exchange): Exchange => deep(exchange);

describe("redacting an exchange", () => {
  it("removes the key from headers and field names", () => {
    const left = JSON.stringify(deep({ exchange: streamed(["hello"]), [key]: 1 }));
    expect(left).not.toContain(key);
    expect(left).toContain("[redacted main]");
  });

  it.each([
    ["in two", [key.slice(0, 9), key.slice(9)]],
    ["letter by letter", ["I know ", ...Array.from(key), " well"]],
  ])("takes out a key that a stream holds %s", (_, contents) => {
    const { answer } = cleaned(streamed(contents));
    const pieces = contents.filter((content) => key.includes(content) && content.length > 1);
    for (const piece of pieces) expect(JSON.stringify(answer)).not.toContain(piece);
    if (answer.kind !== "answered") throw new Error("it is answered");
    const left = answer.events.map(({ data }) => (JSON.parse(data) as { content: string }).content).join("");
    expect(left.replaceAll(/\[withheld.*?\]/g, "")).toBe(contents.filter((content) => !key.includes(content)).join(""));
    expect(answer.events.every(({ data }) => data.includes('"index":3'))).toBe(true);
  });

  it("withholds the whole body if the pieces occur in another form", () => {
    const { answer } = cleaned(
      streamed([key.slice(0, 9), key.slice(9)], () => `data: {"content":\ndata: "${key.slice(0, 9)}"}`),
    );
    expect(JSON.stringify(answer)).not.toContain(key.slice(0, 9));
  });

  it("returns the same object for a stream without secrets", () => {
    const { answer } = streamed(["hello", "there"]);
    const safe = { answer: { ...answer, headers: [] } };
    expect(deep(safe)).toBe(safe);
  });

  it.each([
    ["as it is", Buffer.from(key)],
    ["percent-encoded", Buffer.from(encodeURIComponent(key))],
  ])("takes a key out of a body that is no text: %s", (_, bytes) => {
    const whole = Buffer.concat([Buffer.from([0xff, 0xfe]), bytes, Buffer.from([0xff])]);
    const body = { kind: "base64", base64: whole.toString("base64"), bytes: whole.length };
    const left = Object.values(deep<Record<string, unknown>>(body)).filter((value) => typeof value === "string");
    for (const text of left) {
      expect(tracesIn(text, key)).toEqual([]);
      expect(tracesIn(Buffer.from(text, "base64").toString("latin1"), key)).toEqual([]);
    }
  });

  it.each([
    ["in another field", (piece: string) => ({ name: "chunk", data: JSON.stringify({ delta: piece }) })],
    ["in data that is not JSON", (piece: string) => ({ name: "chunk", data: piece })],
    ["in names of events", (piece: string) => ({ name: piece, data: "{}" })],
  ])("takes out a key that events hold in pieces %s", (_, eventOf) => {
    const events = (key.match(/.{1,4}/g) ?? []).map((piece) => ({ ...eventOf(piece), atMs: 1 }));
    const { answer } = streamed([]);
    const text = events.map(({ name, data }) => `event: ${name}\ndata: ${data}\n\n`).join("");
    const left = JSON.stringify(deep({ ...answer, events, body: { kind: "text", text, bytes: text.length } }));
    for (const piece of key.match(/.{4}/g) ?? []) expect(left).not.toContain(piece);
  });

  it("redacts only numbers that contain a key", () => {
    const { deep: taken } = redactorFor([{ name: "digits", value: "8371926450183" }]);
    expect(taken({ a: 8371926450183, b: 1772600820, c: 0.5 })).toEqual({ a: 0, b: 1772600820, c: 0.5 });
  });

  it("keeps a field named __proto__", () => {
    const left = deep(JSON.parse(`{"__proto__":{"text":"${key}"}}`) as object);
    expect(JSON.stringify(left)).toBe('{"__proto__":{"text":"[redacted main]"}}');
  });
});
