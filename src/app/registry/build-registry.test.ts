import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, it } from "vitest";

import { libraryMessages } from "../../library/scope.ts";
import type { Report } from "../../report/model/report.ts";
import { serializeStatement, statementOf } from "../../report/statement/statement.ts";
import { sampleReport } from "../../report/testing/sample.ts";
import { buildRegistry } from "./build-registry.ts";

const folder = mkdtempSync(join(tmpdir(), "registry-"));
const now = new Date("2030-06-01T00:00:00.000Z");

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Makes a registry of unsigned statements by path, such as `acme/1.0.0`, and builds it. */
async function built(name: string, reports: Readonly<Record<string, Partial<Report>>>) {
  const registry = join(folder, name);
  for (const [path, more] of Object.entries(reports)) {
    const [vendor = ""] = path.split("/");
    mkdirSync(join(registry, vendor), { recursive: true });
    const statement = statementOf({ report: sampleReport([], more) }, {});
    writeFileSync(join(registry, `${path}.json`), serializeStatement(statement));
  }
  const site = join(folder, `${name}-site`);
  return buildRegistry({ registry, site, url: null, messages: [libraryMessages], now });
}

const green = (finished: string): Partial<Report> => ({ verdict: "conformant", finished: `${finished}T00:00:00.000Z` });
const red = (finished: string): Partial<Report> => ({ ...green(finished), verdict: "nonconformant" });

async function standing(name: string, reports: Readonly<Record<string, Partial<Report>>>) {
  const result = await built(name, reports);
  if (result.kind === "broken") throw new Error(JSON.stringify(result.problems));
  return result.registry.entries.map(({ version, supersededBy, newer }) => ({ version, supersededBy, newer }));
}

it("a newer red statement supersedes older ones of the same vendor and deployment, even if a green one follows", async () => {
  expect(
    await standing("red", {
      "acme/1": green("2030-05-01"),
      "acme/2": red("2030-05-02"),
      "acme/3": green("2030-05-03"),
    }),
  ).toEqual([
    { version: "3", supersededBy: null, newer: null },
    { version: "2", supersededBy: null, newer: "3" },
    { version: "1", supersededBy: "2", newer: "3" },
  ]);
});

it("neither an older red statement, nor one of another vendor or deployment supersedes", async () => {
  const elsewhere = { ...red("2030-05-09"), target: { ...sampleReport([]).target, baseUrl: "https://b.example/v1" } };
  const reports = {
    "acme/1": red("2030-05-01"),
    "acme/2": green("2030-05-02"),
    "acme/3": elsewhere,
    "borealis/1": red("2030-05-09"),
  };
  expect((await standing("others", reports)).map(({ version, supersededBy }) => [version, supersededBy])).toEqual([
    ["3", null],
    ["2", null],
    ["1", null],
    ["1", null],
  ]);
});

it("a run that ended in the future is a problem", async () => {
  expect(await built("future", { "acme/1": green("2030-06-02") })).toEqual({
    kind: "broken",
    problems: [{ path: "acme/1.json", reason: "finished: the run ended on 2030-06-02, which is yet to come" }],
  });
});

it("the index shows what is superseded", async () => {
  await built("index", { "acme/1": green("2030-05-01"), "acme/2": red("2030-05-02") });
  const index = readFileSync(join(folder, "index-site", "index.html"), "utf8");
  expect(index).toContain("superseded by 2, which is nonconformant");
});
