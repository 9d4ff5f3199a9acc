import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { spellingChecksOfKeys } from "./path-spellings.ts";
import { signedUseChecks } from "./signed-use.ts";

const suite = { title: "Keys", checks: [...spellingChecksOfKeys, ...signedUseChecks] };
const kind = "a read-only key";
const ok = exchange({ json: { result: {} } });
const refused = (status: number): Exchange => exchange({ status, json: { error: { code: "NO", message: "No." } } });

it.each<[string, Exchange | null, Exchange, string]>([
  ["is refused", refused(403), refused(403), "holds"],
  ["finds no such path", refused(403), refused(404), "holds"],
  ["invokes the agent", refused(403), ok, "breach"],
  ["invokes the agent, in the envelope", refused(403), exchange({ json: { data: { result: 1 } } }), "breach"],
  ["gets a page of the server's own", refused(403), exchange({ text: "<p>Hello.</p>" }), "holds"],
  ["may invoke by the plain path, too", ok, ok, "inapplicable"],
  ["was not used with the plain path", null, refused(403), "inapplicable"],
])("a read-only key with another spelling of the path %s", (_, invoked, response, expected) => {
  const spelled = { tried: [{ kind, spelling: "with a slash at its end", exchange: response }] };
  const { kind: found } = judgeBy(suite, "KEY-5/other spellings of the path", { spelled, reader: { invoked } });
  expect(found).toBe(expected);
});

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
