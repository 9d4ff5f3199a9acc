import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { clauseOf, clausesOfParty } from "../spec/clauses.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "strict-"));
const conformance = commandLineIn(folder);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const faults = { "INV-15": "max-tokens-ignored", "ERR-15": "details-name-no-field" } as const;

describe("advice of the document that a target does not follow", () => {
  it("is all of the clauses that are a should", () => {
    expect(
      clausesOfParty("server")
        .filter((id) => clauseOf(id).level === "should")
        .toSorted(),
    ).toEqual(Object.keys(faults).toSorted());
  });

  it.each(Object.entries(faults))("%s is a warning, and fails the run with --strict", async (id, fault) => {
    const run = ["run", "--fault", fault, "--only", id];
    const lenient = await conformance(run);
    expect(lenient.out).toMatch(/ [1-9] warnings?/);
    expect(lenient.code).toBe(0);
    expect(await conformance([...run, "--strict"])).toMatchObject({ code: 1 });
    expect(await conformance(["run", "--only", id, "--strict"])).toMatchObject({ code: 0 });
  });
});
