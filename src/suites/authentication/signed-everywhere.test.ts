import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { signedEverywhereChecks } from "./signed-everywhere.ts";

const suite = { title: "Authentication", checks: signedEverywhereChecks };
const answered = (status: number): Exchange => exchange({ status, json: {} });

it.each<[string, Exchange, Exchange | null, string]>([
  ["succeeds", answered(200), null, "holds"],
  ["is refused for its body alone", answered(400), null, "holds"],
  ["is refused for its signature", answered(401), answered(400), "breach"],
  ["is forbidden for its signature", answered(403), answered(400), "breach"],
  ["is forbidden to a key of its own", { ...answered(403), key: "signer" }, answered(400), "unproven"],
  ["is refused without a signature, too", answered(403), answered(403), "unproven"],
  ["meets a limit", answered(429), null, "inapplicable"],
])("a signed request that %s", (_, signed, plain, expected) => {
  const evidence = { sent: [{ what: "alerts", signed, plain }] };
  expect(judgeBy(suite, "AUTH-10/every endpoint", evidence).kind).toBe(expected);
});
