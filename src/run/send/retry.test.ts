import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { mayRetry, withoutNetworkLosses } from "./retry.ts";
import { anExchange } from "../testing/values.ts";

const whole = (id: string, sentMs: number): Exchange => anExchange(id, { sentMs });
const broken = (id: string, sentMs: number, url = "http://127.0.0.1/v1/usage"): Exchange =>
  anExchange(id, {
    sentMs,
    request: { method: "GET", url, headers: [], body: { kind: "none" } },
    answer: { kind: "unanswered", reason: "broken", detail: "read ECONNRESET", endMs: sentMs + 1 },
  });

describe("an exchange whose connection broke", () => {
  it.each<[name: string, exchanges: readonly Exchange[], left: readonly string[]]>([
    ["is dropped if a retry succeeded", [broken("x1", 0), whole("x2", 5)], ["x2"]],
    ["stays if every retry broke too", [whole("x0", 0), broken("x1", 1), broken("x2", 5)], ["x0", "x1", "x2"]],
    [
      "is dropped if it was not retried, and earlier ones succeeded",
      [whole("x0", 0), whole("x1", 1), broken("x2", 5)],
      ["x0", "x1"],
    ],
    [
      "stays if the last retries broke",
      [whole("x0", 0), broken("x1", 1), whole("x2", 2), broken("x3", 3), broken("x4", 4)],
      ["x0", "x2", "x3", "x4"],
    ],
    [
      "is dropped if it was sent once, while others succeeded",
      [whole("x0", 0), broken("x1", 1, "http://127.0.0.1/v1/agents")],
      ["x0"],
    ],
    ["stays if it was the only request", [broken("x1", 0)], ["x1"]],
  ])("%s", (_, exchanges, left) => {
    expect(withoutNetworkLosses(exchanges).map(({ id }) => id)).toEqual(left);
  });
});

describe("a request may be sent again", () => {
  it.each([
    ["that reads", "GET", "/usage", {}, true],
    ["that runs an agent", "POST", "/agents/echo/invoke", {}, true],
    ["that creates a webhook", "POST", "/webhooks", {}, false],
    ["that is counted", "POST", "/agents/echo/invoke", { noRetry: true }, false],
    ["that tests a limit", "GET", "/usage", { unpaced: true }, false],
    ["that tests a deadline", "GET", "/usage", { deadlines: { headMs: 1 } }, false],
  ] as const)("%s: %s %s", (_, method, path, options, expected) => {
    expect(mayRetry(method, path, options)).toBe(expected);
  });
});
