import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { requirementSets, type RequirementSet } from "../../src/spec/clause.ts";
import { generated } from "./generated.ts";
import { frozenRequirements, requirementsFile, requirementsPath } from "./requirements-files.ts";

const root = new URL("../../", import.meta.url);
const read = (requirements: RequirementSet): string =>
  readFileSync(new URL(requirementsPath(requirements), root), "utf8");
const frozen = Object.entries(frozenRequirements) as [RequirementSet, string][];

describe("the requirement sets", () => {
  it("have a file each", () => {
    const files = readdirSync(new URL("requirements/", root)).map((name) => `requirements/${name}`);
    expect(files.toSorted()).toEqual(requirementSets.map(requirementsPath).toSorted());
  });

  it.each(frozen)("%s is frozen: its file never changes", (requirements, sha256) => {
    const is = createHash("sha256").update(read(requirements)).digest("hex");
    expect(is, `${requirementsPath(requirements)} is frozen. Restore it with git: do not edit or generate it.`).toBe(
      sha256,
    );
  });

  it.each(frozen)("%s is frozen: the code still has its clauses, levels and checks, and adds none", (requirements) => {
    expect(
      JSON.parse(requirementsFile(requirements)),
      `Requirement set ${requirements} is frozen. Give a new clause or check a later \`since\`, keep the old checks, and leave ${requirementsPath(requirements)} as it is.`,
    ).toEqual(JSON.parse(read(requirements)));
  });

  it.each(frozen)("%s is frozen: `npm run docs` does not write its file", (requirements) => {
    expect([...generated.keys()]).not.toContain(requirementsPath(requirements));
  });
});
