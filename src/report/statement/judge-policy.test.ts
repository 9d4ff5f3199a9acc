import { generateKeyPairSync } from "node:crypto";

import { describe, expect, it } from "vitest";

import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { judgePolicy, type PolicyFacts } from "./judge-policy.ts";
import type { VendorKey } from "./signatures.ts";
import { type Policy, policySchema } from "./policy-schema.ts";
import type { Statement } from "./statement-schema.ts";
import { statementOf } from "./statement.ts";

const key = generateKeyPairSync("ed25519").publicKey;
const acme: VendorKey = { keyId: "aa", vendor: "Acme", key, revoked: null };
const green = statementOf({ report: sampleReport([sampleFinding({ clause: "ERR-2", reading: "form-a" })]) }, {});
const red = statementOf(
  { report: sampleReport([sampleFinding({ outcome: "fail" })], { verdict: "nonconformant" }) },
  {},
);
const profiled: Statement = {
  ...green,
  profiles: [
    { profile: "core", verdict: "conformant", musts: 9, exercised: 9 },
    { profile: "signing", verdict: "not offered", musts: 3, exercised: 0 },
  ],
};
const limited = (
  result:
    | { readonly kind: "kept" | "not proven" }
    | { readonly kind: "exceeded"; readonly excessPercent: number | null },
): Statement => ({ ...green, limits: [{ tier: "free", window: "minute", ...result }] });
const exceeded = { kind: "exceeded", excessPercent: 10 } as const;
const dayMs = 86_400_000;

/** Facts of a green statement that Acme has signed, ten days old. */
const facts: PolicyFacts = {
  statement: green,
  subjects: [{ name: "app", digest: { sha256: "00ff" } }],
  isSigned: true,
  signers: [acme],
  listedKeyIds: [new Set(["aa"])],
  matchesReport: null,
  now: new Date(Date.parse(green.finished) + 10 * dayMs),
};
const policy: Policy = { signers: [{ keys: "acme.json" }], verdicts: ["conformant", "partial"] };
const today = facts.now.toISOString().slice(0, 10);
const yesterday = new Date(facts.now.getTime() - dayMs).toISOString().slice(0, 10);
const allowed = (until: string): NonNullable<Policy["exceptions"]> => [{ check: "SSE-5", until, reason: "soon" }];

const judged = (change: Partial<Policy>, facts_: Partial<PolicyFacts> = {}) =>
  judgePolicy({ ...policy, ...change }, { ...facts, ...facts_ });

type Case = readonly [rule: string, Partial<Policy>, Partial<PolicyFacts>, says: RegExp];

const metCases: readonly Case[] = [
  ["signers", {}, {}, /^signed by Acme$/],
  ["signers", { signers: [{ keyid: "aa" }] }, { listedKeyIds: [null] }, /^signed by Acme$/],
  ["signers", { unsigned: true }, { isSigned: false, signers: [] }, /^unsigned, which the policy accepts$/],
  ["party", {}, {}, /^it judges a server$/],
  ["baseUrl", { baseUrl: green.target.baseUrl }, {}, /^https?:/],
  ["subjects", { subjects: ["app=sha256:00ff"] }, {}, /^app=/],
  ["verdicts", {}, {}, /^conformant$/],
  ["verdicts", { exceptions: allowed(today) }, { statement: red }, /^partial$/],
  ["exceptions", { exceptions: allowed(today) }, { statement: red }, /^nothing fails that may not$/],
  ["requirements", { requirements: "1.0" }, {}, /^1\.\d$/],
  ["maxAgeDays", { maxAgeDays: 10 }, {}, /^its run ended 10 days ago$/],
  ["tiers", { tiers: ["free"] }, {}, /^free$/],
  ["profiles", { profiles: ["core"] }, { statement: profiled }, /^core$/],
  ["readings", { readings: { must: { "ERR-2": ["form-a", "form-b"] }, mustNot: { "ERR-2": "form-b" } } }, {}, /^as/],
  ["excessPercent", { excessPercent: 0 }, { statement: limited({ kind: "kept" }) }, /^no limit by more than 0 %$/],
  ["excessPercent", { excessPercent: 10 }, { statement: limited(exceeded) }, /^no limit by more than 10 %$/],
  ["report", { report: true }, { matchesReport: true }, /^report and evidence match$/],
];

const brokenCases: readonly Case[] = [
  ["signers", {}, { isSigned: false, signers: [] }, /^the statement is unsigned$/],
  ["signers", {}, { signers: [{ ...acme, keyId: "bb" }] }, /^no accepted signer has signed it$/],
  ["signers", { signers: [{ keys: "acme.json", keyid: "bb" }] }, {}, /^no accepted signer has signed it$/],
  ["signers", {}, { signers: [], listedKeyIds: [null] }, /give --keys, or keys of the signer$/],
  ["party", { party: "receiver" }, {}, /^it judges a server, and must judge a receiver$/],
  ["party", {}, { statement: { ...green, party: "client" } }, /^it judges a client, and must judge a server$/],
  ["baseUrl", { baseUrl: "https://other.example" }, {}, /^it is about .*, and must be about https:\/\/other\.example$/],
  ["subjects", { subjects: ["app=sha256:00fe"] }, {}, /^it is not about app=sha256:00fe$/],
  ["verdicts", { verdicts: ["conformant"] }, { statement: { ...green, verdict: "partial" } }, /^it is partial, and/],
  ["verdicts", {}, { statement: red }, /^it is nonconformant, and must be conformant or partial$/],
  ["verdicts", { exceptions: allowed(today), verdicts: ["conformant"] }, { statement: red }, /^it is partial, and/],
  ["exceptions", {}, { statement: red }, /^SSE-5 fails$/],
  ["exceptions", { exceptions: allowed(yesterday) }, { statement: red }, /^SSE-5 fails, which was allowed until /],
  [
    "requirements",
    { requirements: "1.1" },
    { statement: { ...green, suite: { version: "1", clauses: "0" } } },
    /^it is by set 1\.0, and must be by 1\.1 or later$/,
  ],
  ["maxAgeDays", { maxAgeDays: 9 }, {}, /^its run ended 10 days ago, and may have ended 9 days ago$/],
  ["maxAgeDays", { maxAgeDays: 9 }, { now: new Date(0) }, /^its run ended in the future, on 20/],
  ["tiers", { tiers: ["free", "pro"] }, {}, /^no key of the tier pro was in use$/],
  ["profiles", { profiles: ["core", "signing"] }, { statement: profiled }, /^signing is not offered$/],
  ["readings", { readings: { must: { "ERR-2": "form-b" } } }, {}, /^ERR-2 is read as form-a$/],
  ["readings", { readings: { mustNot: { "ERR-2": ["form-a"] } } }, {}, /^ERR-2 is read as form-a$/],
  [
    "excessPercent",
    { excessPercent: 5 },
    { statement: limited(exceeded) },
    /^the minute of free is exceeded by at most 10 %$/,
  ],
  [
    "excessPercent",
    { excessPercent: 5 },
    { statement: limited({ kind: "exceeded", excessPercent: null }) },
    /^the minute of free is exceeded by an unknown amount$/,
  ],
  ["report", { report: true }, { matchesReport: false }, /^report or evidence do not match$/],
];

const uncheckedCases: readonly Case[] = [
  ["profiles", { profiles: ["core"] }, {}, /^the statement has no profiles$/],
  ["readings", { readings: { must: { "LIM-4": "sliding" } } }, {}, /^the statement shows no reading of LIM-4$/],
  ["readings", { readings: { mustNot: { "LIM-4": "sliding" } } }, {}, /^the statement shows no reading of LIM-4$/],
  ["excessPercent", { excessPercent: 5 }, {}, /^the statement shows no tested rate limit$/],
  [
    "excessPercent",
    { excessPercent: 5 },
    { statement: limited({ kind: "not proven" }) },
    /^the run did not prove the limits of the minute of free$/,
  ],
  [
    "subjects",
    { subjects: ["app=sha256:00"] },
    { isSigned: false },
    /^only a signed statement says what was deployed$/,
  ],
  ["report", { report: true }, {}, /^no report was given$/],
];

describe("a policy", () => {
  it.each(metCases)("%s: is met by a policy with %j and facts with %j", (rule, change, more, says) => {
    expect(judged(change, more)).toContainEqual({ rule, outcome: "met", says: expect.stringMatching(says) });
  });

  it.each(brokenCases)("%s: is broken for a policy with %j and facts with %j", (rule, change, more, says) => {
    expect(judged(change, more)).toContainEqual({ rule, outcome: "broken", says: expect.stringMatching(says) });
  });

  it.each(uncheckedCases)(
    "%s: cannot be checked for %j and %j, and fails unless it is optional",
    (rule, change, more, says) => {
      const optional = policySchema.shape.optional.parse([rule]);
      const found = { rule, says: expect.stringMatching(says) };
      expect(judged(change, more)).toContainEqual({ ...found, outcome: "unchecked" });
      expect(judged({ ...change, ...(optional && { optional }) }, more)).toContainEqual({
        ...found,
        outcome: "optional",
      });
    },
  );

  it("does not excuse a broken rule by calling it optional", () => {
    const readings = { must: { "ERR-2": "form-b" } };
    expect(judged({ readings, optional: ["readings"] })).toContainEqual(
      expect.objectContaining({ rule: "readings", outcome: "broken" }),
    );
  });

  it("always has the rules on signers, party, verdict and exceptions", () => {
    expect(judged({}).map(({ rule }) => rule)).toEqual(["signers", "party", "verdicts", "exceptions"]);
  });
});
