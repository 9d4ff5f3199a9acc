import { assert, constantFrom, json as jsonText, nat, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";

import { notationOf, parseSource, type Source, type ValuePath } from "./source.ts";

function parsed(text: string, notation: "JSON" | "YAML"): Source {
  const source = parseSource(text, notation);
  if (source.kind === "problem") throw new Error(JSON.stringify(source));
  return source;
}

const problemIn = (text: string, notation: "JSON" | "YAML"): string => {
  const source = parseSource(text, notation);
  return source.kind === "value" ? "none" : `${source.place.line}:${source.place.column} ${source.problem}`;
};

const placeIn = (source: Source, ...path: ValuePath): string => {
  const { line, column } = source.placeOf(path);
  return `${line}:${column}`;
};

const json = '{\n  "a": [1, {"b": "x"}],\r\n\t"c": null\n}';
const yaml = "# a comment\na:\n  - 1\n  - b: x\nc:\n";

describe("a source with places", () => {
  it.each([
    ["JSON", json, ["1:1", "2:3", "2:9", "2:13", "3:2", "2:12"]],
    ["YAML", yaml, ["2:1", "2:1", "3:5", "4:5", "5:1", "4:5"]],
  ] as const)("in %s knows the line and the column of each value", (notation, text, expected) => {
    const source = parsed(text, notation);
    expect(source.value).toEqual({ a: [1, { b: "x" }], c: null });
    const places = [[], ["a"], ["a", 0], ["a", 1, "b"], ["c"], ["a", 1, "missing", "deeper"]];
    expect(places.map((path) => placeIn(source, ...path))).toEqual(expected);
  });

  it("may begin with a byte order mark", () => {
    expect(placeIn(parsed('\uFEFF{"a":1}', "JSON"), "a")).toBe("1:2");
    expect(placeIn(parsed("\uFEFFa: 1", "YAML"), "a")).toBe("1:1");
  });

  it.each([
    ["", "1:1 is not JSON: expected a value, and the file ends"],
    ['{"a": 1', '1:8 is not JSON: expected a comma or "}", and the file ends'],
    ['{\n  "a": 1,\n}', "3:1 is not JSON: expected a name in double quotes"],
    ["[1 2]", '1:4 is not JSON: expected a comma or "]"'],
    ["{'a': 1}", "1:2 is not JSON: expected a name in double quotes"],
    ['{"a" 1}', "1:6 is not JSON: expected a colon"],
    ["[01]", '1:3 is not JSON: expected a comma or "]"'],
    ["{} x", "1:4 is not JSON: expected the end of the file"],
    ['"open', "1:1 is not JSON: a string without its end, or with a character that needs an escape"],
    ['{"a": 1,\n "a": 2}', '2:2 has a duplicate name "a"'],
    ['{"__proto__": 1}', '1:2 has the name "__proto__", which cannot be used'],
    ["[".repeat(300), "1:202 is nested deeper than 200 levels"],
  ])("reports where %j is no JSON", (text, problem) => {
    expect(problemIn(text, "JSON")).toBe(problem);
  });

  it.each([
    ["a: [1", /^1:6 is not YAML: \S/],
    ["a: 1\n b: 2", /^\d:\d+ is not YAML: \S/],
    ["a: 1\na: 2", /^2:1 has a duplicate name$/],
    ["a: 1\n---\nb: 2", /^2:1 has several documents, and only one is allowed$/],
    ["a: *nowhere", /^1:4 is not YAML: \S/],
    ["? [1]\n: 2", /^1:3 has a name that is no plain text$/],
    ["__proto__: 1", /^1:1 has the name "__proto__"/],
    [`a: ${"[".repeat(300)}${"]".repeat(300)}`, /^1:\d+ is nested deeper than 200 levels$/],
  ])("reports where %j is no YAML", (text, problem) => {
    expect(problemIn(text, "YAML")).toMatch(problem);
  });

  it("in YAML follows aliases, up to a number of values", () => {
    const source = parsed("a: &x {n: 1}\nb: *x", "YAML");
    expect(source.value).toEqual({ a: { n: 1 }, b: { n: 1 } });
    expect(placeIn(source, "b", "n")).toBe("2:1");
    const level = (at: number): string =>
      `l${at}: &l${at} [${Array(10)
        .fill(`*l${at - 1}`)
        .join(", ")}]`;
    const bomb = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]", ...[1, 2, 3, 4, 5, 6].map(level)].join("\n");
    expect(problemIn(bomb, "YAML")).toMatch(/has more than 100000 values, with its aliases$/);
  });

  it("in YAML keeps dates as text, and names as text", () => {
    expect(parsed("at: 2026-01-05T08:00:00\n8080: x\nno: off\n", "YAML").value).toEqual({
      at: "2026-01-05T08:00:00",
      8080: "x",
      no: "off",
    });
    expect(parsed("%YAML 1.1\n---\nat: 2026-01-05\n", "YAML").value).toEqual({ at: "2026-01-05" });
    expect(parsed("", "YAML").value).toBeNull();
  });

  it("has the value that JSON.parse returns, for every JSON text", () => {
    assert(
      property(jsonText({ maxDepth: 5 }), nat({ max: 4 }), (text, indent) => {
        const value = JSON.parse(text) as unknown;
        if (text.includes("__proto__")) return;
        expect(parsed(JSON.stringify(value, null, indent), "JSON").value).toEqual(value);
      }),
    );
  });

  it("refuses every text that JSON.parse refuses", () => {
    const mutated = tuple(jsonText({ maxDepth: 3 }), nat(), constantFrom("", ",", "}", '"', "0", "\n", "x"));
    assert(
      property(mutated, ([text, at, added]) => {
        const cut = at % (text.length + 1);
        const changed = text.slice(0, cut) + added + text.slice(cut + 1);
        expect(parseSource(changed, "JSON").kind === "problem" || acceptsJson(changed)).toBe(true);
      }),
    );
  });

  it.each([
    ["a.json", "JSON"],
    ["A.YML", "YAML"],
    ["a.b.yaml", "YAML"],
    ["a.toml", null],
    ["json", null],
  ])("has the notation that the ending of %s stands for", (name, notation) => {
    expect(notationOf(name)).toBe(notation);
  });
});

function acceptsJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
