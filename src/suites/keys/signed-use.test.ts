import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { signedRestrictedKeyChecks } from "./signed-use.ts";

const suite = { title: "Keys", checks: signedRestrictedKeyChecks };
const ok = exchange({ json: { result: {} } });
const refused = (status: number): Exchange => exchange({ status, json: { error: { code: "NO", message: "No." } } });

it.each<[string, Exchange | null, Exchange | null, string]>([
  ["is refused", refused(403), refused(403), "holds"],
  ["invokes the agent", ok, refused(403), "breach"],
  ["may invoke without a signature, too", ok, ok, "inapplicable"],
  ["meets a limit", refused(429), refused(403), "unproven"],
  ["was not used", null, refused(403), "inapplicable"],
])("a read-only key in a signed request %s", (_, reader, invoked, expected) => {
  const evidence = { signing: { reader, oneAgent: null, expired: null }, tried: { invoked } };
  expect(judgeBy(suite, "KEY-5/signed", evidence).kind).toBe(expected);
});
