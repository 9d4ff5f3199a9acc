import { beforeAll, describe, expect, it } from "vitest";
import { sampleOf } from "../base/testing/test-scope.ts";
import { clauseIds, clauseOf, type ClauseId } from "../spec/clauses.ts";
import type { Patch } from "./patch.ts";
import { allFaults, allVariants, suiteFaults, findPatch } from "./catalogue.ts";
import { differs, transcript, type Transcript } from "./testing/transcript.ts";

const all = [...allFaults, ...allVariants];

/** Clauses that no fault can break here, and why. */
const unprovable: Partial<Record<ClauseId, string>> = {
  "REQ-1": "the server is reached over loopback, where HTTPS is not asked for",
};

function isTestable(id: ClauseId): boolean {
  const { level, untestable } = clauseOf(id);
  return level !== "gap" && level !== "policy" && untestable === undefined;
}

describe("the patches", () => {
  it("have names of their own within their kind", () => {
    const names = all.map(({ kind, name }) => `${kind} ${name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const { name } of all) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it("say in one sentence what they do", () => {
    for (const { summary } of all) expect(summary).toMatch(/^[A-Z`].*\.$/);
  });

  it("are found by kind and name", () => {
    for (const patch of all) expect(findPatch(patch.kind, patch.name)).toBe(patch);
    expect(findPatch("fault", "form-b")).toBeUndefined();
  });

  it("that are faults break clauses that are judged", () => {
    const wrong = allFaults.filter(
      ({ breaks, detectedBy }) => (breaks.length === 0 && detectedBy === "suites") || !breaks.every(isTestable),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it("that are variants draw a note at most", () => {
    const wrong = allVariants.filter(({ breaks }) => breaks.some((id) => clauseOf(id).level !== "advisory"));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it("break every clause that can be judged and that this server has", () => {
    const broken = new Set([...suiteFaults, ...allVariants].flatMap(({ breaks }) => breaks));
    const open = clauseIds.filter((id) => isTestable(id) && !broken.has(id) && unprovable[id] === undefined);
    expect(open).toEqual([]);
  });
});

/** Variants that change only when something happens, which a transcript does not tell. */
const unseen = new Set([
  "variant closes-late",
  // Nobody makes a mistake beyond a limit there.
  "variant limits-told-last",
  // The reference's own agents have shorter ids.
  "variant long-agent-ids-unrouted",
  // On a virtual clock a receiver answers in no time.
  "variant metrics-in-seconds",
]);

describe("every variant shows", () => {
  let standard: Transcript = new Map();
  beforeAll(async () => {
    standard = await transcript();
  });

  it("and the standard does not change from run to run", async () => {
    expect(await transcript()).toEqual(standard);
  });

  // A fault shows by what turns red of it, in the selftest; a variant turns nothing red, and would pass there if it changed nothing.
  const asked = sampleOf(allVariants, { of: 8 });
  const named = asked.map((patch): [string, Patch] => [`${patch.kind} ${patch.name}`, patch]);
  it.each(named.filter(([name]) => !unseen.has(name)))("%s", async (_name, patch) => {
    expect(await differs(patch, standard)).toBe(true);
  });
});
