import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { spellingChecksOfKeys } from "./path-spellings.ts";

const suite = { title: "Keys", checks: spellingChecksOfKeys };
const kind = "a read-only key";
const ok = exchange({ json: { result: {} } });
const refused = (status: number): Exchange => exchange({ status, json: { error: { code: "NO", message: "No." } } });

it.each<[string, Exchange | null, Exchange, string]>([
  ["is refused", refused(403), refused(403), "holds"],
  ["finds no such path", refused(403), refused(404), "holds"],
  ["meets a rate limit", refused(403), refused(429), "unproven"],
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
