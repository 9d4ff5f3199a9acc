import { describe, expect, it } from "vitest";

import { suite } from "../../run/judge/check.ts";
import { signingChecks } from "./signing.ts";
import type { SignedBadly, SignedValidly } from "./signing-probes.ts";
import { exchange, unanswered } from "../testing/exchange.ts";
import { judgeBy } from "../testing/judging.ts";
import { judged } from "../testing/judged.ts";

const signing = suite("Signing", signingChecks);
const [ok, refused] = [
  exchange({ json: {} }),
  exchange({ status: 401, json: { error: { code: "BAD", status: 401 } } }),
];

const validly = (changed: Partial<SignedValidly> = {}): SignedValidly => ({
  control: ok,
  withQuery: ok,
  withoutQuery: refused,
  posted: ok,
  postedPlainly: null,
  ...changed,
});

describe("signed requests", () => {
  it.each<[string, Partial<SignedValidly>, string]>([
    ["signed with the query string", {}, "path-and-query"],
    ["signed without it", { withQuery: refused, withoutQuery: ok }, "path-only"],
    ["both accepted", { withoutQuery: ok }, "holds"],
    ["both refused", { withQuery: refused }, "breach"],
    ["not accepted without a signature either", { control: refused, withQuery: refused }, "unproven"],
    ["limited", { withQuery: exchange({ status: 429 }) }, "unproven"],
    ["no answer", { withQuery: unanswered() }, "unproven"],
  ])("AUTH-10: a path %s", (_, changed, expected) => {
    expect(judged(signing, "AUTH-10/query", validly(changed))).toBe(expected);
  });

  it.each<[string, Partial<SignedValidly>, string]>([
    ["accepted", {}, "holds"],
    ["refused", { posted: refused, postedPlainly: ok }, "breach"],
    ["refused also without a signature", { posted: refused, postedPlainly: refused }, "unproven"],
    ["not sent, as no agent is known", { posted: null }, "unproven"],
    ["limited", { posted: exchange({ status: 429 }), postedPlainly: ok }, "unproven"],
  ])("AUTH-10: a body that is not ASCII is %s", (_, changed, expected) => {
    expect(judged(signing, "AUTH-10/body", validly(changed))).toBe(expected);
  });

  it("AUTH-11: says what each mistake gets", () => {
    const asked = { "a wrong secret": refused, "a changed path": ok };
    const evidence: SignedBadly = { control: ok, asked, unsigned: null };
    expect(judgeBy(signing, "AUTH-11", evidence)).toMatchObject({
      kind: "observed",
      text: expect.stringContaining("a wrong secret: 401 BAD; a changed path: accepted"),
    });
    expect(judgeBy(signing, "AUTH-11", { ...evidence, unsigned: refused })).toMatchObject({
      text: expect.stringMatching(/^no signature, where the key asks for one: 401 BAD; /),
    });
    expect(judged(signing, "AUTH-11", { ...evidence, control: refused })).toBe("unproven");
  });
});
