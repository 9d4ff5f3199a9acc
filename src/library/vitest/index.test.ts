import { describe, expect, it } from "vitest";

import { listChecks } from "../catalogue.ts";
import { conformanceTests, type Judged, selectedTests } from "./index.ts";

const runs: Judged[] = [];

// Registers the tests of the selected checks in this file.
conformanceTests({
  title: "the reference server",
  target: async () => ({ embedded: true }),
  only: ["INV-*"],
  skip: ["INV-8"],
  onJudged: (judged) => void runs.push(judged),
});

describe("conformanceTests", () => {
  it("has run once, and judged just what was selected", ({ task }) => {
    const judged = new Set(runs.flatMap(({ report }) => report.findings.map(({ check }) => check)));
    const isFiltered = task.file.tasks.some(({ mode }) => mode === "skip");
    expect(runs).toHaveLength(isFiltered ? 0 : 1);
    const selected = isFiltered ? [] : listChecks({ only: ["INV-*"], skip: ["INV-8"] });
    const ids = new Set(selected.map(({ id }) => id));
    expect([...judged].filter((id) => !ids.has(id))).toEqual([]);
    // Some checks only repeat a check of set 1.0 for newer requests. They have a row only if they found something else.
    expect([...ids].filter((id) => !judged.has(id) && !id.includes("in requests of"))).toEqual([]);
  });

  it("refuses a pattern that matches nothing before any test is registered", () => {
    expect(() => conformanceTests({ target: { embedded: true }, only: ["NOPE"] })).toThrow(/"NOPE" matches no clause/);
  });

  it("sees which tests a filter leaves", () => {
    const test = (name: string, mode: string) => ({ type: "test", name, mode });
    const group = {
      name: "g",
      mode: "run",
      tasks: [test("a", "run"), { name: "h", mode: "run", tasks: [test("b", "skip"), test("c", "queued")] }],
    };
    expect(selectedTests(group)).toEqual(new Set(["a", "c"]));
    expect(selectedTests(undefined)).toBeNull();
  });
});
