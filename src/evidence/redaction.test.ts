import { describe, expect, it } from "vitest";

import type { Exchange, StreamEvent } from "./exchange.ts";
import { redactCutEdges, redactDeep, redactorFor, type Secret } from "./redaction.ts";

const key = "pk_live/Zq8+Rt4=Wm2x&Lp7";
const secrets: readonly Secret[] = [{ name: "main", value: key }];
const redact = redactorFor(secrets);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a redactor", () => {
  it.each([
    ["raw", key],
    ["in upper case", key.toUpperCase()],
    ["percent-encoded", encodeURIComponent(key)],
    ["percent-encoded in lower case", encodeURIComponent(key).toLowerCase()],
    ["in hexadecimal", Buffer.from(key).toString("hex")],
  ])("finds a secret %s", (_, form) => {
    expect(redact(`before ${form} after`)).toBe("before [redacted main] after");
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

  it("finds it where a JSON text has escaped it", () => {
    const odd = redactorFor([{ name: "odd", value: 'quo"te\\d-secret' }]);
    expect(odd(JSON.stringify({ said: 'quo"te\\d-secret' }))).toBe('{"said":"[redacted odd]"}');
  });

  it.each([
    ["shortened", `it said ${key.slice(0, 7)}…`, "it said [redacted main]…"],
    ["shortened at its end", `it said ${key.slice(0, 7)}`, "it said [redacted main]"],
    ["of which more than half is left", `at ${key.slice(0, 14)}. Then`, "at [redacted main]. Then"],
  ])("finds a secret %s", (_, text, left) => {
    expect(redact(text)).toBe(left);
  });

  it.each([
    ["is only begun", "of conformance-99 and more", "of conformance-99 and more"],
    ["is shortened", "of conformance-7…", "of [redacted hook]…"],
    ["is half there", "of conformance-712345: more", "of [redacted hook]: more"],
    ["is in upper case", "of CONFORMANCE-71234567-89AB-CDEF-01S: more", "of [redacted hook]: more"],
    ["has a long s in it", "of conformance-71234567-89ab-cdef-01ſ", "of [redacted secret]"],
    ["stands beside another", "conformance-71234567, conformance-81234567", "[redacted hook], [redacted other]"],
  ])("among secrets that begin alike, judges one by itself that %s", (_, text, left) => {
    const alike = redactorFor([
      { name: "hook", value: "conformance-71234567-89ab-cdef-01s" },
      { name: "other", value: "conformance-81234567-89ab-cdef-01s" },
    ]);
    expect(alike(text)).toBe(left);
  });

  it("leaves a text without secrets as it is", () => {
    expect(redact("pk_live is a prefix, and nothing else")).toBe("pk_live is a prefix, and nothing else");
  });

  it("takes a short secret for one only where it stands alone", () => {
    const short = redactorFor([{ name: "short", value: "abc" }]);
    expect(short("abcdef abc: abc-d")).toBe("abcdef [redacted short]: abc-d");
  });

  it("changes nothing where there are no secrets", () => {
    expect(redactorFor([])("anything")).toBe("anything");
    expect(redactorFor([{ name: "empty", value: "" }])("anything")).toBe("anything");
  });
});

describe("cut edges", () => {
  it("loses the part of a secret that stands there", () => {
    expect(redactCutEdges(`head ${key.slice(0, 12)}`, `${key.slice(-9)} tail`, secrets)).toEqual({
      head: "head ",
      tail: " tail",
    });
  });
  it("keeps what is no part of one", () => {
    expect(redactCutEdges("head", "tail", secrets)).toEqual({ head: "head", tail: "tail" });
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

const clean = (exchange: Exchange): Exchange => redactDeep(exchange, redact, secrets);

describe("redacting an exchange", () => {
  it("takes the key out of its headers, and out of names of fields", () => {
    const cleaned = JSON.stringify(redactDeep({ exchange: streamed(["hello"]), [key]: 1 }, redact, secrets));
    expect(cleaned).not.toContain(key);
    expect(cleaned).toContain("[redacted main]");
  });

  it.each([
    ["in two", [key.slice(0, 9), key.slice(9)]],
    ["letter by letter", ["I know ", ...Array.from(key), " well"]],
  ])("takes out a key that a stream holds %s", (_, contents) => {
    const { answer } = clean(streamed(contents));
    const pieces = contents.filter((content) => key.includes(content) && content.length > 1);
    for (const piece of pieces) expect(JSON.stringify(answer)).not.toContain(piece);
    if (answer.kind !== "answered") throw new Error("it is answered");
    const left = answer.events.map(({ data }) => (JSON.parse(data) as { content: string }).content).join("");
    expect(left.replaceAll(/\[withheld.*?\]/g, "")).toBe(contents.filter((content) => !key.includes(content)).join(""));
    expect(answer.events.every(({ data }) => data.includes('"index":3'))).toBe(true);
  });

  it("withholds the whole body where the pieces stand in it in another form", () => {
    const { answer } = clean(
      streamed([key.slice(0, 9), key.slice(9)], () => `data: {"content":\ndata: "${key.slice(0, 9)}"}`),
    );
    expect(JSON.stringify(answer)).not.toContain(key.slice(0, 9));
  });

  it("leaves a stream without secrets the very same object", () => {
    const { answer } = streamed(["hello", "there"]);
    const safe = { answer: { ...answer, headers: [] } };
    expect(redactDeep(safe, redact, secrets)).toBe(safe);
  });

  it("finds a key in a body that is no text", () => {
    const body = {
      kind: "base64",
      base64: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(key), Buffer.from([0xff])]).toString("base64"),
      bytes: 30,
    };
    expect(Buffer.from(redactDeep(body, redact, secrets).base64, "base64").toString("latin1")).not.toContain(
      key.slice(2, 10),
    );
  });
});
