import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { alerts } from "./checks.ts";

const created = (status: number): Exchange => exchange({ path: "/alerts", status, json: {} });

describe("an alert with a threshold that is no whole number", () => {
  it.each<[string, Exchange, Exchange | null, string, Exchange?]>([
    ["is created", created(201), created(201), "holds"],
    ["is refused, unlike a whole number", created(201), created(400), "breach"],
    ["is refused as every alert is", created(400), created(400), "unproven"],
    ["is one alert too many", created(201), created(409), "unproven"],
    ["is refused, as any second alert is", created(201), created(400), "unproven", created(400)],
    ["is not sent with few requests", created(201), null, "inapplicable"],
  ])("%s", (_, whole, fraction, expected, second = created(201)) => {
    const evidence = { whole: { created: whole }, created: fraction, second };
    expect(judgeBy(alerts, "ALR-1/fraction", evidence).kind).toBe(expected);
  });
});

describe("a second alert with the same `webhook_url`", () => {
  it.each<[string, Exchange | null, string]>([
    ["is created", created(201), "holds"],
    ["crashes the target", created(500), "breach"],
    ["is refused", created(409), "unproven"],
    ["is not sent", null, "inapplicable"],
  ])("%s", (_, again, expected) => {
    const alert = again && { first: created(201), again };
    expect(judgeBy(alerts, "ALR-1/same address", alert).kind).toBe(expected);
  });
});
