import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { suite } from "../../run/check.ts";
import { elsewhereChecks, keyRequiredElsewhere } from "./strangers-elsewhere.ts";
import { exchange } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";

const elsewhere = suite("Elsewhere", [...elsewhereChecks, ...keyRequiredElsewhere]);
const [ok, refused, limited] = [200, 401, 429].map((status) => exchange({ status })) as [Exchange, Exchange, Exchange];
const forbidden = exchange({ status: 403 });

/** The same evidence for each endpoint, under the names that the checks give it. */
const evidence = (asked: { missing: Exchange; wrong: Exchange }, control: Exchange, onUsage = refused) => ({
  asked,
  strangers: { wrong: { usage: onUsage } },
  read: { read: control },
  created: { created: control },
  alert: { created: control },
});

describe.each(["key usage", "webhooks", "alerts"])("without a valid key on %s", (endpoint) => {
  it.each<[string, Exchange, Exchange, Exchange, string]>([
    ["401", refused, ok, refused, "holds"],
    ["let in", ok, ok, refused, "breach"],
    ["let in, though a valid key is not", ok, forbidden, refused, "breach"],
    ["another refusal", forbidden, ok, refused, "breach"],
    ["a limit", limited, ok, refused, "unproven"],
    ["401, as a valid key gets", refused, refused, refused, "unproven"],
    ["another refusal, as on usage", forbidden, ok, forbidden, "unproven"],
  ])("a wrong key meets %s", (_, wrong, control, onUsage, expected) => {
    const found = judged(elsewhere, `AUTH-8/${endpoint}`, evidence({ missing: refused, wrong }, control, onUsage));
    expect(found).toBe(expected);
  });

  it.each<[string, Exchange, Exchange, string]>([
    ["401", refused, ok, "holds"],
    ["let in", ok, ok, "breach"],
    ["another refusal", forbidden, ok, "holds"],
    ["a limit", limited, ok, "unproven"],
    ["401, as a valid key gets", refused, refused, "unproven"],
  ])("no key meets %s", (_, missing, control, expected) => {
    const found = judged(elsewhere, `REQ-2/${endpoint}`, evidence({ missing, wrong: refused }, control));
    expect(found).toBe(expected);
  });
});
