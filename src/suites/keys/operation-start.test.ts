import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { startChecksOfAuthentication, startChecksOfKeys } from "./operation-start.ts";

const suite = { title: "Keys", checks: [...startChecksOfAuthentication, ...startChecksOfKeys] };
const kindOf = (clause: string, evidence: unknown): string =>
  judgeBy(suite, `${clause}/start of an operation`, evidence).kind;

const ok = exchange({ status: 201, json: { operation_id: "op_1", status: "pending" } });
const refused = (status: number, code = "NO"): Exchange =>
  exchange({ status, json: { error: { code, message: "No.", status } } });
const triedWith = (...tried: readonly (readonly [string, Exchange])[]) => ({
  tried: tried.map(([kind, response]) => ({ kind, exchange: response })),
});

describe("a read-only key that starts an operation", () => {
  const kind = "a read-only key";
  it.each<[string, Exchange, Exchange, string]>([
    ["is refused", refused(403), refused(403), "holds"],
    ["succeeds", ok, refused(403), "breach"],
    ["may invoke, too", ok, ok, "inapplicable"],
    ["meets a limit", refused(429), refused(403), "unproven"],
  ])("%s", (_, response, invoked, expected) => {
    const evidence = { tries: triedWith([kind, response]), batch: { started: ok }, reader: { invoked } };
    expect(kindOf("KEY-5", evidence)).toBe(expected);
  });

  it("is not judged if the main key starts none either", () => {
    const evidence = {
      tries: triedWith([kind, refused(404)]),
      batch: { started: refused(404) },
      reader: { invoked: refused(403) },
    };
    expect(kindOf("KEY-5", evidence)).toBe("inapplicable");
  });
});

describe("an expired key that starts an operation", () => {
  const kind = "an expired key";
  const expired = refused(401, "EXPIRED_API_KEY");
  it.each<[string, readonly (readonly [string, Exchange])[], string]>([
    ["gets 401 with its code", [[kind, expired]], "holds"],
    ["gets 401 without a code", [[kind, exchange({ status: 401, json: {} })]], "holds"],
    ["gets the code of a wrong key", [[kind, refused(401, "INVALID_API_KEY")]], "breach"],
    ["gets 403", [[kind, refused(403)]], "breach"],
    [
      "succeeds as any key does, which is AUTH-3 alone",
      [
        [kind, ok],
        ["a wrong key", ok],
      ],
      "inapplicable",
    ],
    ["was not tried", [], "inapplicable"],
  ])("%s", (_, tried, expected) => {
    const sent = { requests: [{ kind, endpoint: "invoke", exchange: expired }] };
    expect(kindOf("AUTH-4", { tries: triedWith(...tried), batch: { started: ok }, sent })).toBe(expected);
  });
});
