import { describe, expect, it } from "vitest";

import { suite } from "../../run/judge/check.ts";
import { delivery, exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { unusualSecretKinds, secretKindWithQuery } from "../webhooks/unusual-webhooks.ts";
import { urlQueryCheck } from "./unusual-webhook-checks.ts";

const webhooks = suite("Webhooks", [urlQueryCheck]);

/** Evidence of a webhook with this URL, and of deliveries to these URLs. */
function called(url: string, urls: readonly string[], status = 201) {
  const created = (text: string) => exchange({ path: "/webhooks", status, sent: { url: text } });
  const odd = Object.fromEntries(
    unusualSecretKinds.map((kind) => [
      kind,
      { hook: `webhook-${kind}`, exchange: created(kind === secretKindWithQuery ? url : "http://127.0.0.1:1/t/h") },
    ]),
  );
  const deliveries = urls.map((each) => {
    const arrived = delivery({ hook: `webhook-${secretKindWithQuery}` });
    return { ...arrived, request: { ...arrived.request, url: each } };
  });
  return { sent: { odd }, all: { deliveries } };
}

const url = "http://127.0.0.1:1/t/h?token=a%20b&x=1";

describe("deliveries to a URL with a query", () => {
  it.each<[string, object, string]>([
    ["have it", called(url, ["/t/h?token=a%20b&x=1"]), "holds"],
    ["lack it", called(url, ["/t/h"]), "breach"],
    ["lack it in the second", called(url, ["/t/h?token=a%20b&x=1", "/t/h"]), "breach"],
    ["have it in another spelling", called(url, ["/t/h?token=a+b&x=1"]), "breach"],
    ["did not come", called(url, []), "unproven"],
    ["cannot come, as the webhook was refused", called(url, [], 400), "inapplicable"],
    ["are of older evidence, without a query", called("http://127.0.0.1:1/t/h", ["/t/h"]), "unproven"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(webhooks, "WHK-1/query", evidence)).toBe(expected);
  });
});
