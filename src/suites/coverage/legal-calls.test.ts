import { describe, expect, it } from "vitest";

import type { Row } from "../../base/covering-array.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { noValueFailsCheck } from "./legal-calls.ts";

const call = {
  endpoint: "invoke",
  method: "documented",
  key: "pro",
  agent: "answering",
  body: "valid",
  session: "absent",
};
const sent = (row: Row, status: number, sentMs = 1000) => ({
  row: { ...call, ...row },
  exchange: exchange({ status, json: {}, sentMs }),
});
const suite = { title: "", checks: [noValueFailsCheck("INV-1", "invoke")] };
const judge = (...generated: readonly ReturnType<typeof sent>[]) =>
  judgeBy(suite, "INV-1/fails for no value", { generated }).kind;

const good = sent({ query: "plain" }, 200);

describe("generated requests with a value of a field", () => {
  it.each([
    ["fail all", [sent({ query: "long" }, 500, 900), sent({ query: "long" }, 500, 1100)], "breach"],
    ["fail in one outage", [sent({ query: "long" }, 500, 2000), sent({ query: "long" }, 500, 9000)], "holds"],
    ["fail once, and there is no other", [sent({ query: "long" }, 500)], "holds"],
    ["fail at times", [sent({ query: "long" }, 500), sent({ query: "long" }, 200)], "holds"],
    ["are rejected", [sent({ query: "long" }, 413), sent({ query: "long" }, 413)], "holds"],
    ["meet a gateway that is busy", [sent({ query: "long" }, 502), sent({ query: "long" }, 502)], "holds"],
    ["fail with another agent", [sent({ query: "long", agent: "failing" }, 500)], "holds"],
    [
      "fail for a session in other characters, which may be rejected",
      [sent({ session: "not ASCII" }, 500), sent({ session: "not ASCII" }, 500)],
      "breach",
    ],
  ])("%s", (_, generated, expected) => {
    expect(judge(good, ...generated)).toBe(expected);
  });

  it("prove nothing if all requests fail", () => {
    expect(judge(sent({ query: "long" }, 500), sent({ query: "plain" }, 500))).toBe("unproven");
  });
});
