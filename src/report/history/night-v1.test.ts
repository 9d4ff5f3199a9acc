import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { defaultRegressionRules } from "../compare/regression-rules.ts";
import { judgeNight, changesToReport } from "./gate/judge-night.ts";
import { type Night, nightFormat, countsCaveat, timesCaveat } from "./night.ts";
import { serializeNight, parseNight } from "../../app/nightly/history-store.ts";
import { nightLines } from "./summary.ts";

/**
 * Two consecutive nights in the format of version 0.1. The first has no broken clause. The second has a fault, and a load whose times are
 * not valid.
 */
const folder = join(import.meta.dirname, "testing", "nights-1");
const texts = readdirSync(folder)
  .toSorted()
  .map((name) => readFileSync(join(folder, name), "utf8"));

function nightIn(text: string): Night {
  const read = parseNight(text);
  if (read.kind === "problem") throw new Error(read.problem);
  return read.value;
}

describe("entries of the first version", () => {
  const [usual, broken] = texts.map(nightIn);
  if (usual === undefined || broken === undefined) throw new Error("the nights are missing");

  it("are read as entries of the current version", () => {
    for (const night of [usual, broken]) {
      expect(night.format).toBe(nightFormat);
      expect(nightIn(serializeNight(night))).toEqual(night);
    }
    expect(broken.findings.find(({ outcome }) => outcome === "fail")).toMatchObject({
      check: "INV-10",
      expected: "400 with the code MISSING_REQUIRED_FIELD",
      actual: '400 with the code "INVALID_INPUT"',
    });
    expect(usual.findings.filter(({ outcome }) => outcome === "observed").map(({ reason }) => typeof reason)).toContain(
      "string",
    );
    expect(broken.load.map((run) => [countsCaveat(run), timesCaveat(run)])).toContainEqual([
      null,
      expect.stringMatching(/late$/),
    ]);
  });

  it("are judged with the same result as then", () => {
    const judgement = judgeNight(
      [usual],
      { ...broken, reported: { regressions: [], changes: [] } },
      defaultRegressionRules,
    );
    expect(changesToReport(judgement)).toEqual(broken.reported);
    expect(nightLines(judgement, broken)).toEqual([
      { kind: "regression", says: broken.reported.regressions[0]?.says },
      { kind: "left out", says: expect.stringContaining("its times are not compared") as string },
    ]);
  });

  it("are unchanged when written and read again", () => {
    const { comparison, regressions } = judgeNight(
      [usual],
      nightIn(serializeNight({ ...usual, id: "again" })),
      defaultRegressionRules,
    );
    expect([comparison?.unchanged, regressions]).toEqual([usual.findings.length, []]);
  });
});
