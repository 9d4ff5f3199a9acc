import { beforeAll, describe, expect, it } from "vitest";
import { sampleOf } from "../base/testing/test-scope.ts";
import { type ClauseId, clauseIds, clauseOf } from "../spec/clauses.ts";
import type { Patch } from "./patch.ts";
import { allFaults, allVariants, findPatch, suiteFaults } from "./catalogue.ts";
import { respondsDifferently, transcript, type Transcript } from "./testing/transcript.ts";
import { gaps } from "./gaps.ts";

const all = [...allFaults, ...allVariants];

/** Clauses that no fault can break here, with the reason. */
const unprovable: Partial<Record<ClauseId, string>> = {
  "REQ-1": "the server is reached over loopback, where HTTPS is not asked for",
};

function isTestable(id: ClauseId): boolean {
  const { level, party, untestable } = clauseOf(id);
  return party === "server" && level !== "gap" && level !== "policy" && untestable === undefined;
}

describe("the patches", () => {
  it("have unique names within their kind", () => {
    const names = all.map(({ kind, name }) => `${kind} ${name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const { name } of all) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it("have a summary of one sentence", () => {
    for (const { summary } of all) expect(summary).toMatch(/^[A-Z`].*\.$/);
  });

  it("are found by kind and name", () => {
    for (const patch of all) expect(findPatch(patch.kind, patch.name)).toBe(patch);
    expect(findPatch("fault", "form-b")).toBeUndefined();
  });

  it("that are faults break only clauses that the suites judge", () => {
    const wrong = allFaults.filter(
      ({ breaks, detectedBy }) => (breaks.length === 0 && detectedBy === "suites") || !breaks.every(isTestable),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it("that are variants break only advisory clauses", () => {
    const wrong = allVariants.filter(({ breaks }) => breaks.some((id) => clauseOf(id).level !== "advisory"));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it("break every clause that this server can break", () => {
    const broken = new Set([...suiteFaults, ...allVariants].flatMap(({ breaks }) => breaks));
    const open = clauseIds.filter((id) => isTestable(id) && !broken.has(id) && unprovable[id] === undefined);
    expect(open).toEqual([]);
  });
});

/** Variants that change rare cases only, which the requests of the transcript do not reach. */
const notInTranscript = new Set([
  "variant closes-late",
  // No request of the transcript is both invalid and beyond a limit.
  "variant limits-told-last",
  // The agents of the reference server have shorter ids.
  "variant long-agent-ids-unrouted",
  // No receiver of the transcript redirects.
  "variant redirects-followed",
  // The addresses from which deliveries come are not in the transcript.
  "variant deliveries-from-three-addresses",
  // On a virtual clock the response time of a receiver is 0.
  "variant metrics-in-seconds",
]);

describe("every variant changes a transcript", () => {
  let standard: Transcript = new Map();
  beforeAll(async () => {
    standard = await transcript();
  });

  it("and the standard transcript is the same in each run", async () => {
    expect(await transcript()).toEqual(standard);
  });

  // The selftest shows that faults have an effect, because checks fail. It could not tell if a variant had none, so
  // variants are tested here.
  const sampled = sampleOf(allVariants, { of: 8 });
  const named = sampled.map((patch): [string, Patch] => [`${patch.kind} ${patch.name}`, patch]);
  it.each(named.filter(([name]) => !notInTranscript.has(name)))("%s", async (_name, patch) => {
    expect(await respondsDifferently(patch, standard)).toBe(true);
  });
});

describe("the gaps", () => {
  it("name existing variants", () => {
    const names = gaps.flatMap(({ otherwise }) => otherwise);
    expect(names.filter((name) => findPatch("variant", name) === undefined)).toEqual([]);
  });

  it("cover every gap of the document", () => {
    const filled = new Set(gaps.flatMap(({ clauses }) => clauses));
    const open = clauseIds.filter((id) => {
      const { level, party, untestable } = clauseOf(id);
      return party === "server" && level === "gap" && untestable === undefined && !filled.has(id);
    });
    expect(open).toEqual([]);
  });

  it("have a variant for each clause that is a gap", () => {
    const fixed = gaps.filter(({ clauses, otherwise }) => {
      return otherwise.length === 0 && clauses.some((id) => clauseOf(id).level === "gap");
    });
    expect(fixed).toEqual([]);
  });
});
