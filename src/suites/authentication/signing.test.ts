import { describe, expect, it } from "vitest";

import { suite } from "../../run/judge/check.ts";
import { type SignedBadly, type SignedValidly, signingChecks } from "./signing.ts";
import { exchange, unanswered } from "../testing/evidence.ts";
import { judgeBy, judged } from "../testing/judged.ts";

const signing = suite("Signing", signingChecks);
const [ok, rejected] = [
  exchange({ json: {} }),
  exchange({ status: 401, json: { error: { code: "BAD", status: 401 } } }),
];

const forbiddenToSigner = exchange({ status: 403, key: "signer", json: {} });

const validly = (changed: Partial<SignedValidly> = {}): SignedValidly => ({
  control: ok,
  withQuery: ok,
  withoutQuery: rejected,
  posted: ok,
  postedPlainly: null,
  ...changed,
});

describe("signed requests", () => {
  it.each<[string, Partial<SignedValidly>, string]>([
    ["signed with the query string", {}, "path-and-query"],
    ["signed without it", { withQuery: rejected, withoutQuery: ok }, "path-only"],
    ["both accepted", { withoutQuery: ok }, "holds"],
    ["both rejected", { withQuery: rejected }, "breach"],
    [
      "both forbidden to a key of its own",
      { withQuery: forbiddenToSigner, withoutQuery: forbiddenToSigner },
      "unproven",
    ],
    ["one forbidden to a key of its own", { withQuery: forbiddenToSigner }, "unproven"],
    ["not accepted without a signature either", { control: rejected, withQuery: rejected }, "unproven"],
    ["limited", { withQuery: exchange({ status: 429 }) }, "unproven"],
    ["no response", { withQuery: unanswered() }, "unproven"],
  ])("AUTH-10: a path %s", (_, changed, expected) => {
    expect(judged(signing, "AUTH-10/query", validly(changed))).toBe(expected);
  });

  it.each<[string, Partial<SignedValidly>, string]>([
    ["accepted", {}, "holds"],
    ["rejected", { posted: rejected, postedPlainly: ok }, "breach"],
    ["forbidden to a key of its own", { posted: forbiddenToSigner, postedPlainly: ok }, "unproven"],
    ["rejected also without a signature", { posted: rejected, postedPlainly: rejected }, "unproven"],
    ["not sent, as no agent is known", { posted: null }, "unproven"],
    ["limited", { posted: exchange({ status: 429 }), postedPlainly: ok }, "unproven"],
  ])("AUTH-10: a body that is not ASCII, or has white space and escapes, is %s", (_, changed, expected) => {
    expect(judged(signing, "AUTH-10/body", validly(changed))).toBe(expected);
    const { posted, postedPlainly } = validly(changed);
    expect(judged(signing, "AUTH-10/white space and escapes", { posted, postedPlainly })).toBe(expected);
  });

  it("AUTH-11: reports the response to each mistake", () => {
    const responses = { "a wrong secret": rejected, "a changed path": ok };
    const evidence: SignedBadly = { control: ok, asked: responses, unsigned: null };
    expect(judgeBy(signing, "AUTH-11", evidence)).toMatchObject({
      kind: "observed",
      text: expect.stringContaining("a wrong secret: 401 BAD; a changed path: accepted"),
    });
    expect(judgeBy(signing, "AUTH-11", { ...evidence, unsigned: rejected })).toMatchObject({
      text: expect.stringMatching(/^no signature, although the key requires one: 401 BAD; /),
    });
    expect(judged(signing, "AUTH-11", { ...evidence, control: rejected })).toBe("unproven");
  });
});
