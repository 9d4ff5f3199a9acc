import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { unusualKeysCheck } from "./unusual-keys.ts";

const suite = { title: "Authentication", checks: [unusualKeysCheck] };
const answered = (status: number): Exchange => exchange({ method: "GET", status, json: {} });

it.each<[string, string, Exchange, Exchange, string]>([
  ["gets 401", "of one letter", answered(401), answered(401), "holds"],
  ["gets 500", "of one letter", answered(500), answered(401), "breach"],
  ["gets 400, although it is a token", "of 400 letters", answered(400), answered(401), "breach"],
  ["gets 400, as it is no token", "with an apostrophe", answered(400), answered(401), "holds"],
  ["meets a limit", "of one letter", answered(429), answered(401), "inapplicable"],
  [
    "gets 403 as every wrong key does, which is AUTH-8 alone",
    "of one letter",
    answered(403),
    answered(403),
    "inapplicable",
  ],
])("a key that looks like none %s", (_, name, response, usual, expected) => {
  const evidence = {
    unusual: { sent: [{ name, exchange: response }] },
    usual: { requests: [{ kind: "a wrong key", endpoint: "usage", exchange: usual }] },
  };
  expect(judgeBy(suite, "AUTH-3/unusual texts", evidence).kind).toBe(expected);
});
